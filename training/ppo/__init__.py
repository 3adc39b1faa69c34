"""Reinforcement learning: PPO tunes a supervised model towards a reward, such as a judge's preference."""

"""Reinforcement learning: a supervised model is tuned by PPO towards what a judge prefers."""

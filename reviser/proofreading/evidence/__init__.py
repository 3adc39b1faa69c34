"""Further evidence from the model on a change that it proposes."""

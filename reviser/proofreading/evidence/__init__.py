"""What else the model says of a change that it proposes."""

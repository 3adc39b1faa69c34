"""Rules that keep a policy from some actions: no long repeats, no words without a space, an end with a sentence."""

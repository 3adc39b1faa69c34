"""Rules of writing that restrict a policy's actions: no long repeats, no words without a space, an end with a sentence."""

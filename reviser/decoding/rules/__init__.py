"""Rules of writing that restrict a policy's actions: no long repeats, spaces between words, an end with a sentence."""

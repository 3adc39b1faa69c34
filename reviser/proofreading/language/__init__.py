"""Language recognition: English words and passages, as opposed to other languages."""

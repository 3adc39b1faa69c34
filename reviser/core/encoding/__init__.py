"""Encoding of short texts without the tokenizers package, which takes longer to load than they take to encode."""

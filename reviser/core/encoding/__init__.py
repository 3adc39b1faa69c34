"""Byte-pair encoding of short texts in Python: loading the tokenizers package takes longer than encoding them."""

"""Validity masks for other engines: transformers, vLLM and llama.cpp."""

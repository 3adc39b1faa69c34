"""The validity mask for other engines: transformers, vLLM and llama.cpp."""

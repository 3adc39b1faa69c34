"""What decodes in the measurement of speed: Reviser's decoders, transformers and llama.cpp."""

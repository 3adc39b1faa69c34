"""The contestants of the speed benchmark: Reviser's decoders, transformers and llama.cpp."""

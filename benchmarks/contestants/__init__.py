"""The models that are compared: those that continue texts, and those that edit them."""

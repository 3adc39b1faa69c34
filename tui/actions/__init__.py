"""The actions of the application, by the part that carries them out; keys and the palette name them."""

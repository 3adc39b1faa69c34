"""How fast things are: decoding, generation, training, attention, the canvas, the server."""

"""Reading a text for mistakes: the reader, the changes between two texts, and their kinds."""

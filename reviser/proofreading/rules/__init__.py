"""Rules for mistakes that are certain from the words alone: data files, and the engine that matches them."""

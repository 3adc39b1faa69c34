"""The player: runs of the text that is shown, as their user starts, steps through, saves and reviews them."""

"""Token shards: making them from texts and reading them."""

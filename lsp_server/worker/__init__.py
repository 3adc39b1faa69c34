"""The worker process, which holds the models, and the server's client for it."""

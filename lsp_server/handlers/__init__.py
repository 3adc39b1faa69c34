"""The handlers of an editor's requests: features of the protocol, and commands."""

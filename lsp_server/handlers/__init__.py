"""What the server does when an editor asks: features of the protocol, and commands."""

"""A document bound to a policy: the stream of text edits that front ends show."""

"""Sessions: a document bound to a policy, whose runs give the text edits that editors and other programs show."""

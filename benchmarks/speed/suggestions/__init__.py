"""How quick the language server is: a typing session, replayed over the streams that an editor uses."""

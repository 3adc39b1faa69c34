"""How well next edits are foretold: sessions of people, of whose edits the first are shown."""

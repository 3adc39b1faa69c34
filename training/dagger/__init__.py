"""DAgger: a model learns from the states that it comes to by itself, labelled by an oracle."""

"""DAgger: a model learns from the states that its own actions lead to, labelled by an oracle."""

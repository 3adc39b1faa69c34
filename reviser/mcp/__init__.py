"""The server for agents, through the Model Context Protocol."""

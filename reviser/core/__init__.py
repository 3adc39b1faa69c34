"""Ids, actions, the canvas and its text: what every other package builds on."""

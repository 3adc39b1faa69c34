"""Ids, actions, the canvas and its text: what every other room builds on."""

"""Proofreading: a model's corrections of the prose in a document, each judged by itself, made where they do no harm."""

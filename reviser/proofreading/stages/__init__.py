"""Stages of proofreading: each suggests edits for documents; the guard decides about them."""

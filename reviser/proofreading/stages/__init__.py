"""Stages of proofreading: each suggests edits of documents, about which the guard decides."""

"""Tests of what decides about proposals."""

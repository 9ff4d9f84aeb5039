"""Compositions of symmetric methods to higher order."""

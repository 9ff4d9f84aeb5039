"""SHAKE and RATTLE."""

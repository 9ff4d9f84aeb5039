"""User functions as compiled code."""

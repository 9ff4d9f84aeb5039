"""RATTLie: RATTLE on Lie groups."""

"""Studies: integrators and coordinates compared on one model, and which of them go together."""

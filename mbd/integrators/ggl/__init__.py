"""GGL integrators."""

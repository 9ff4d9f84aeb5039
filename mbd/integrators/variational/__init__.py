"""Variational integrators that evaluate the Lagrangian in the middle of a step."""

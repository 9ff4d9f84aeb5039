"""Explicit Runge-Kutta methods."""

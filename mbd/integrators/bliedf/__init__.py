"""BLieDF: backward differentiation formulas on Lie groups."""

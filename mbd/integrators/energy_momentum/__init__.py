"""Energy-momentum schemes on frames."""

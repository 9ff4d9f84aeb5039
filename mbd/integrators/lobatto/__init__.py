"""Lobatto IIIA-IIIB with three stages."""

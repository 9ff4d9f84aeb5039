"""Nodes over a step: momentum balances of the structure-preserving methods, node by node, without a state or a loop."""

"""How a model becomes a solution."""

from .simulation import simulate as simulate

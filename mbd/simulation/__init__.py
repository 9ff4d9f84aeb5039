"""How a model becomes a solution."""

from .simulate import simulate as simulate

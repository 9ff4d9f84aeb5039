"""Settings that are read once, from the environment; imports nothing, so that light modules can ask."""

from __future__ import annotations

import os
import time

JIT = os.environ.get("MBD_JIT", "1") != "0"
"""Whether kernels are compiled; ``MBD_JIT=0`` runs them as plain Python."""

COMPILER = os.environ.get("MBD_COMPILER", "own")
"""How things are compiled: "own", or "numba" for its public interface alone; "none" leaves user functions plain."""

PUBLIC = COMPILER == "numba"

STARTED = time.time()
"""When the first module with compiled code was imported."""

"""Settings that are read once, from the environment; imports nothing, so that light modules can ask."""

from __future__ import annotations

import os
import time

JIT = os.environ.get("MBD_JIT", "1") != "0"
"""Whether kernels are compiled; ``MBD_JIT=0`` runs them as plain Python."""

STARTED = time.time()
"""When the first module with compiled code was imported."""

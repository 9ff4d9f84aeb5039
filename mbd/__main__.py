"""python -m mbd: run, diagnose, benchmarks, warmup."""

import sys

from mbd.cli import main

if __name__ == "__main__":
    sys.exit(main())

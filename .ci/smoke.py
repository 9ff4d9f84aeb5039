"""A new installation: the first program of the README prints what the README promises."""

import re
import sys
import time
from pathlib import Path

wheel, readme = sys.argv[1:]
text = Path(readme).read_text(encoding="utf-8")
program = re.search(r"```python\n(import mbd.*?)```", text, re.DOTALL).group(1)
program = "\n".join(line for line in program.splitlines() if ".movie(" not in line)  # needs the extra [view]
promised = re.search(r"prints?[^`]*`(\[.*?)`|printed[^`]*`(\[.*?)`", text, re.DOTALL)
promised = " ".join(next(group for group in promised.groups() if group).split())

import mbd  # noqa: E402

assert "site-packages" in mbd.__file__, mbd.__file__
lines = []
clock = time.perf_counter()
exec(compile(program, "README.md", "exec"), {"print": lambda *values: lines.append(" ".join(map(str, values)))})
assert " ".join(lines[0].split()) == promised, f"printed {lines[0]!r}, promised {promised!r}"
python = ".".join(map(str, sys.version_info[:3]))
seconds = time.perf_counter() - clock
print(f"{wheel} on Python {python}: README's program in {seconds:.1f} s, with nothing compiled before")

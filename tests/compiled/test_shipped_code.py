"""Machine code that is part of an installation: used where it fits, refused where it does not, never written."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from llvmlite import binding

from mbd.compiled import cache, machine, trust, warmup
from mbd.compiled.cache_files import CodeFile, read_code, write_code
from mbd.compiled.kernel import JIT
from mbd.math.so3 import tangent_operator

ROOT = Path(__file__).parents[2]
LEVEL = "x86-64-v3"
ABOUT, CODE = {"symbol": "f.1", "result": "n", "needs": []}, b"code"
OTHER_USER = 54321

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
compiled = pytest.mark.skipif(not JIT, reason="nothing is compiled")
FITTING = dict.fromkeys(machine.LEVELS[LEVEL], True)


def forget():
    """As in a new process."""
    for found in (machine.missing_features, machine.this_machine, cache._levels_in, trust.tell, trust.is_installed):
        found.cache_clear()


@pytest.fixture(autouse=True)
def anew(monkeypatch):
    """A processor of the level, no settings, and nothing remembered."""
    for name in machine.settings():
        monkeypatch.delenv(name)
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: binding.FeatureMap(FITTING))
    monkeypatch.setattr(machine.platform, "machine", lambda: "x86_64")
    forget()
    yield
    monkeypatch.undo()
    forget()


def function():
    """Any function of the package."""
    return getattr(tangent_operator, "py_func", tangent_operator)


@pytest.fixture
def shipped(tmp_path, monkeypatch) -> CodeFile:
    """Where code of a function is looked for; it is part of the installation, and the user's own cache is empty."""
    monkeypatch.setattr(cache, "SHIPPED", tmp_path / "_code")
    (tmp_path / "_code" / LEVEL).mkdir(parents=True)
    monkeypatch.setattr(cache, "CACHE_ROOT", tmp_path / "own")
    file = cache.cache_file(function(), "kinds")
    assert file is not None and file.path is not None and not file.path.exists()
    ((root, path, key),) = file.installed
    write_code(CodeFile(root / path, key), ABOUT, CODE)
    return file


def place(file: CodeFile) -> Path:
    return file.installed[0].root / file.installed[0].path


def test_code_that_fits_is_used(shipped):
    assert read_code(shipped) == (ABOUT, CODE)


def test_own_code_comes_first(shipped):
    write_code(shipped, ABOUT, b"own")
    assert read_code(shipped) == (ABOUT, b"own")


def test_users_without_a_home(shipped):
    assert read_code(shipped._replace(path=None)) == (ABOUT, CODE)


@pytest.mark.parametrize("feature", machine.LEVELS[LEVEL])
def test_processors_that_lack_a_feature(shipped, monkeypatch, feature):
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: binding.FeatureMap(FITTING | {feature: False}))
    forget()
    file = cache.cache_file(function(), "kinds")
    assert file is not None and file.installed == () and read_code(file) is None
    assert machine.missing_features(LEVEL) == (feature,)


def test_other_machines(shipped, monkeypatch):
    """Another family of processors, system, layout of objects, or series of numba; another patch of it is welcome."""

    def found() -> bool:
        forget()
        file = cache.cache_file(function(), "kinds")
        assert file is not None
        return read_code(file) is not None

    assert found()
    versions = machine._version_text
    for version, fits in (('"version": "{}.99"', True), ('"version": "9{}.0"', False), ("something else", False)):
        text = version.format(machine._series())
        monkeypatch.setattr(machine, "_version_text", lambda package, text=text: text)
        assert found() is fits, text
        monkeypatch.setattr(machine, "_version_text", versions)
    monkeypatch.setattr(machine.sys, "platform", "plan9")
    assert not found()
    monkeypatch.undo()


def test_settings_of_the_compiler(shipped, monkeypatch):
    """Those that change code ask for code of one's own; a number of threads does not."""
    for name, value, fits in (("OPT", "0", False), ("BOUNDSCHECK", "1", False), ("NUM_THREADS", "2", True)):
        monkeypatch.setenv(f"NUMBA_{name}", value)
        forget()
        file = cache.cache_file(function(), "kinds")
        assert file is not None and bool(file.installed) is fits, name
        monkeypatch.delenv(f"NUMBA_{name}")


def test_code_of_other_sources(shipped, monkeypatch):
    """Neither under its name, nor under the name that code of these sources would have."""
    monkeypatch.setattr(cache, "module_hash", lambda name: "f" * 64)
    file = cache.cache_file(function(), "kinds")
    assert file is not None and file.installed and read_code(file) is None
    place(file).parent.mkdir()
    place(file).write_bytes(place(shipped).read_bytes())
    assert read_code(file) is None


def test_damaged_code(shipped):
    content = bytearray(place(shipped).read_bytes())
    content[-1] ^= 1
    place(shipped).write_bytes(content)
    assert read_code(shipped) is None


def test_code_of_ones_own(shipped):
    """Who compiles ahead of time wants that."""
    with cache.without_shipped_code():
        file = cache.cache_file(function(), "kinds")
        assert file is not None and file.installed == ()
    assert cache.cache_file(function(), "kinds") == shipped


# --- owners ---------------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("level", range(4))
def test_code_that_more_people_can_write_than_modules(shipped, level, capsys):
    """The file, its directory, that of the level, that of all."""
    path = [place(shipped), *place(shipped).parents][level]
    before = path.stat().st_mode
    path.chmod(0o777)
    assert read_code(shipped) is None and read_code(shipped) is None
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"{path} is writable by others (mode 0777)" in said
    path.chmod(before)
    forget()
    assert read_code(shipped) == (ABOUT, CODE)


def status(path: Path, **changes: int) -> os.stat_result:
    """The status of a file with another mode, uid or gid."""
    values = list(path.stat())
    for name, value in changes.items():
        values[{"mode": 0, "uid": 4, "gid": 5}[name]] = value
    return os.stat_result(values)


@posix
def test_whom_installations_may_belong_to(monkeypatch):
    """Whoever installed the modules, the administrator, and the user; with the rights that modules have."""
    module = Path(trust.__file__)
    installed = SimpleNamespace(stat=lambda: status(module, mode=0o100664, uid=1000, gid=100))
    monkeypatch.setattr(trust, "Path", lambda name: installed)
    for uid in (1000, 0, os.geteuid()):
        assert trust.distrust_installed(status(module, mode=0o100644, uid=uid, gid=7)) == ""
    assert trust.distrust_installed(status(module, mode=0o100664, uid=1000, gid=100)) == ""  # as the modules
    for uid, gid, mode in ((OTHER_USER, 100, 0o100644), (1000, 7, 0o100664), (1000, 100, 0o100666)):
        assert trust.distrust_installed(status(module, mode=mode, uid=uid, gid=gid)) != "", (uid, gid, mode)


@posix
def test_links_of_installers_are_followed(shipped, tmp_path):
    """Some installers link to files in a store of theirs, modules as well as this."""
    place(shipped).rename(tmp_path / "stored")
    place(shipped).symlink_to(tmp_path / "stored")
    assert read_code(shipped) == (ABOUT, CODE)


# --- made and used --------------------------------------------------------------------------------------------------

VALUE = """
import sys
from pathlib import Path
import numpy as np
from mbd.compiled import cache, warmup
from mbd.math.so3 import tangent_operator

def value():
    t = np.zeros(9)
    tangent_operator(0.1, 0.2, 0.3, t)
    return t.tolist()
"""
MAKE = VALUE + "sys.exit(warmup.warm([('rotation', value)]))"
USE = VALUE + "cache.SHIPPED = Path(sys.argv[1])\nprint(*value(), 'numba' in sys.modules)"


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Files with sizes and times."""
    paths = [path for path in folder.rglob("*") if "__pycache__" not in path.parts]
    return {str(p.relative_to(folder)): (p.stat().st_size, p.stat().st_mtime_ns) for p in paths}


@pytest.mark.own_compiler
@compiled
def test_made_by_one_process_and_used_by_another(tmp_path, monkeypatch, capfd):
    """Without the compiler, with nothing written anywhere, to the same last bit; not after a change of a module."""
    monkeypatch.undo()
    forget()
    if machine.missing_features(LEVEL):
        pytest.skip(f"this processor is not of level {LEVEL}")
    monkeypatch.chdir(ROOT)
    code = tmp_path / "code"
    assert warmup.warm_for(LEVEL, [sys.executable, "-c", MAKE], code) == 0
    said = capfd.readouterr().out
    assert "[1/1] rotation ... 1 compiled" in said and f"for {LEVEL}: 2 files of code" in said

    def use(folder: Path) -> list[str]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "own")}
        command = [sys.executable, "-c", USE, str(code)]
        found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=environment)
        return found.stdout.split()

    before = tree(code), tree(cache.PACKAGE)
    expected = np.zeros(9)
    tangent_operator(0.1, 0.2, 0.3, expected)
    assert use(ROOT) == [*(str(x) for x in expected.tolist()), "False"]
    assert (tree(code), tree(cache.PACKAGE)) == before and not (tmp_path / "own").exists()

    shutil.copytree(cache.PACKAGE, tmp_path / "changed" / "mbd", ignore=shutil.ignore_patterns("__pycache__", "_code"))
    with open(tmp_path / "changed" / "mbd" / "math" / "so3.py", "a") as module:
        module.write("\nCHANGED = True\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "changed"))
    assert use(tmp_path / "changed") == [*(str(x) for x in expected.tolist()), "True"]
    assert (tree(code), tree(cache.PACKAGE)) == before


FAKE = """
import os, sys
from pathlib import Path
root = Path(os.environ["NUMBA_CACHE_DIR"])
assert os.environ["NUMBA_CPU_NAME"] == sys.argv[1] and os.environ["NUMBA_CPU_FEATURES"] == ""
assert "NUMBA_OPT" not in os.environ and "MBD_JIT" not in os.environ
for name in ("module", "user_functions"):
    (root / f"{name}-{'a' * 16}").mkdir()
    (root / f"{name}-{'a' * 16}" / f"f-{'a' * 16}.code").write_text("code")
sys.exit(int(sys.argv[2]))
"""


def test_what_is_shipped(tmp_path, monkeypatch):
    """No user functions; what was there is replaced, what is not code stays; nothing changes after a failure."""
    monkeypatch.setenv("NUMBA_OPT", "0")
    monkeypatch.setenv("MBD_JIT", "0")
    old = tmp_path / LEVEL / f"old-{'b' * 16}" / f"f-{'b' * 16}.code"
    old.parent.mkdir(parents=True)
    for path in (old, tmp_path / LEVEL / "notes.txt"):
        path.touch()
    before = tree(tmp_path)
    assert warmup.warm_for(LEVEL, [sys.executable, "-c", FAKE, LEVEL, "3"], tmp_path) == 3
    assert tree(tmp_path) == before
    assert warmup.warm_for(LEVEL, [sys.executable, "-c", FAKE, LEVEL, "0"], tmp_path) == 0
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {f"{LEVEL}/module-{'a' * 16}/f-{'a' * 16}.code", f"{LEVEL}/notes.txt"}


def test_levels_that_cannot_be_made(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="expected one of x86-64-v3"):
        warmup.warm_for("x86-64-v9", ["false"], tmp_path)
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: binding.FeatureMap(FITTING | {"avx2": False}))
    forget()
    with pytest.raises(ValueError, match="this processor lacks avx2"):
        warmup.warm_for(LEVEL, ["false"], tmp_path)


def test_every_level_can_be_put_into_a_wheel():
    """The build hook needs hatchling and cannot be imported here."""
    hook = ast.parse((ROOT / "hatch_build.py").read_text())
    values = {ast.unparse(n.targets[0]): n.value for n in hook.body if isinstance(n, ast.Assign)}
    assert ast.literal_eval(values["PLATFORMS"]).keys() == machine.LEVELS.keys()


def test_clear(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "CACHE_ROOT", tmp_path / "cache")
    assert warmup.clear() == "there is no compiled code"
    write_code(cache.code_file(f"module-{'a' * 16}", "f", "key"), {}, bytes(3000))
    (tmp_path / "cache" / "notes.txt").touch()
    assert warmup.clear().startswith("1 files of code, 0.0 MB, removed")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["notes.txt"]

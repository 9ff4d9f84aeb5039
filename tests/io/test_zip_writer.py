"""Archives are those of np.savez for every reader, and their checksums those of zlib, however they are computed."""

import zipfile
import zlib

import numpy as np
import pytest

from mbd.compiled import checksum as checksums
from mbd.compiled.checksum import WORTHWHILE, checksum
from mbd.io.zip_writer import write_arrays

ARRAYS = {
    "records": np.random.default_rng(0).normal(size=(1000, 301)),  # with a checksum of the large ones
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "none": np.zeros((0, 3)),
    "one": np.array(2.5),
    "texts": np.array(["ab", "c"]),
    "Größe": np.arange(5),
    "every other": np.arange(20.0)[::2],
}


def test_an_archive_is_read_by_numpy_and_zipfile(tmp_path):
    write_arrays(tmp_path / "a.npz", ARRAYS)
    with np.load(tmp_path / "a.npz") as found:
        assert list(found) == list(ARRAYS)
        for name, x in ARRAYS.items():
            assert found[name].dtype == x.dtype and found[name].shape == x.shape
            assert (found[name] == x).all()
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert archive.testzip() is None  # which compares all checksums


def test_python_objects_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Python objects"):
        write_arrays(tmp_path / "a.npz", {"x": np.array([None])})


@pytest.mark.parametrize("instruction", [True, False])
def test_checksums_are_those_of_zlib(instruction, monkeypatch):
    """Of every length beside whole blocks, read-only or not, wherever they begin and whatever stands before."""
    if not instruction:
        monkeypatch.setattr(checksums, "_fold", lambda: None)
    data = np.random.default_rng(1).integers(0, 256, WORTHWHILE + 300, dtype=np.uint8)
    data.flags.writeable = False
    for more in (0, 1, 63, 64, 65, 200):
        for start in (0, 3):
            part = data[start : start + WORTHWHILE + more]
            for before in (0, 12345, 0xFFFFFFFF):
                assert checksum(part, before) == zlib.crc32(part, before)
    assert checksum(data[:1000]) == zlib.crc32(data[:1000])

"""Archives are those of np.savez for every reader, and their checksums those of zlib, however they are computed."""

import io
import os
import struct
import threading
import zipfile
import zlib

import numpy as np
import pytest

from mbd.compiled import checksum as checksums
from mbd.compiled.checksum import WORTHWHILE, checksum
from mbd.io.zip_writer import PIECE, write_arrays

ARRAYS = {
    "records": np.random.default_rng(0).normal(size=(1000, 301)),  # with a checksum of the large ones
    "pieces": np.random.default_rng(1).integers(0, 256, 2 * PIECE + 1001, dtype=np.uint8),
    "whole pieces": np.zeros(2 * PIECE // 8),
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are those of POSIX")
def test_an_archive_goes_through_a_pipe(tmp_path):
    """Whoever reads a pipe cannot go back, and who writes cannot either."""
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=write_arrays, args=(tmp_path / "pipe", ARRAYS))
    writer.start()
    (tmp_path / "b.npz").write_bytes((tmp_path / "pipe").read_bytes())
    writer.join()
    write_arrays(tmp_path / "a.npz", ARRAYS)
    with np.load(tmp_path / "a.npz") as there, np.load(tmp_path / "b.npz") as here:
        assert list(here) == list(there)
        assert all((here[name] == there[name]).all() for name in here)


def test_an_archive_is_read_from_front_to_back(tmp_path):
    """Readers of streams see the local headers only: sizes and checksums are there, and none behind the data."""
    write_arrays(tmp_path / "a.npz", ARRAYS)
    stream, place = (tmp_path / "a.npz").read_bytes(), 0
    for name, x in ARRAYS.items():
        mark, _, flags, method, _, crc, _, _, of_name, of_more = struct.unpack_from("<4s3H4s3L2H", stream, place)
        assert (mark, flags, method) == (b"PK\3\4", 1 << 11, 0)
        place += 30
        assert stream[place : place + of_name].decode() == f"{name}.npy"
        place += of_name
        kind, length, size, stored = struct.unpack_from("<2H2Q", stream, place)
        assert (kind, length, of_more) == (1, 16, 20) and size == stored
        place += of_more
        found = np.load(io.BytesIO(stream[place : place + size]))
        assert np.array_equal(found, x) and zlib.crc32(stream[place : place + size]) == crc, name
        place += size
    assert stream[place : place + 4] == b"PK\1\2"


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

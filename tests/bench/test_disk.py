"""Each way of writing segments leaves the newest whole, and no more than are kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench import disk


@pytest.mark.skipif(sys.platform != "linux", reason="they are Linux's")
@pytest.mark.parametrize("name", disk.WAYS)
def test_a_way_writes_each_segment_whole(name: str, tmp_path: Path) -> None:
    size, oldest = 4 * disk.CHUNK, None
    for number in range(3):
        path = tmp_path / str(number)
        waits: list[float] = []
        disk.WAYS[name](path, oldest, disk.chunks(size, disk.CHUNK, waits), size)
        assert path.stat().st_size == size
        assert path.read_bytes()[: disk.CHUNK] == path.read_bytes()[-disk.CHUNK :]
        assert len(waits) == 4
        oldest = path
    assert [path.name for path in tmp_path.iterdir()] == ["2"], "each takes the place of the oldest"

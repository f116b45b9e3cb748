"""The heap that a JVM publishes, in files made here: one of each byte order."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from barnabas.fuzz.targets import heap as heap_module
from barnabas.fuzz.targets.heap import Heap, places

COUNTERS = {
    "sun.gc.generation.0.space.0.used": 1000,
    "sun.gc.generation.0.space.0.capacity": 7,
    "sun.gc.generation.1.space.0.used": 30,
    "sun.gc.metaspace.used": 5,
}


def published(order: str, counters: dict[str, int]) -> bytes:
    entries = b""
    for name, value in counters.items():
        text = name.encode() + b"\0"
        text += bytes(-len(text) % 8 + 4)  # so that the value stands at a multiple of 8
        length = 20 + len(text) + 8
        entries += struct.pack(f"{order}iiibbbbi", length, 20, 0, ord("J"), 0, 2, 1, 20 + len(text))
        entries += text + struct.pack(f"{order}q", value)
    front = b"\xca\xfe\xc0\xc0" + bytes((1 if order == "<" else 0, 2, 0, 1))
    return front + struct.pack(f"{order}iiqii", 0, 0, 0, 32, len(counters)) + entries


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_parts_of_the_heap_in_use_are_added_up_and_nothing_else(
    order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "1"
    file.write_bytes(published(order, COUNTERS))
    monkeypatch.setattr(heap_module, "published", lambda pid: file)
    with Heap(1) as heap:
        assert heap.used() == (1030, 1030)
        with file.open("r+b") as opened:
            data = file.read_bytes()
            opened.seek(places(data)[1][1])
            opened.write(struct.pack(f"{order}q", 70))
        assert heap.used() == (1070, 1070)
    assert heap.used() is None


@pytest.mark.parametrize(
    "data", [b"", bytes(64), published("<", {"other": 1}), published("<", COUNTERS)[:60]]
)
def test_what_says_nothing_of_a_heap_is_told(data: bytes) -> None:
    with pytest.raises(ValueError, match="hsperfdata"):
        places(data)


def test_of_a_process_that_is_no_jvm_nothing_is_known() -> None:
    with Heap(os.getpid()) as heap:
        assert heap.used() is None

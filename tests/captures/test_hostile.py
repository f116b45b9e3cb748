"""Test that hostile captures give events or one error, in bounded memory."""

from __future__ import annotations

import contextlib
import gzip
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import zstandard

from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.reader import CaptureReader
from tests.captures.hostile import mutated, swallowed, whole

pytestmark = pytest.mark.filterwarnings("ignore")

SHARES = 4


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    return list(whole(tmp_path_factory.mktemp("whole")).values())


@pytest.mark.parametrize("share", range(SHARES))
def test_mutations(tmp_path: Path, captures: list[bytes], share: int) -> None:
    path, healthy = tmp_path / "f", tmp_path / "healthy"
    healthy.write_bytes(captures[1])
    read = 0
    for number in range(100):
        random = Random(f"{share}/{number}")
        path.write_bytes(mutated(random.choice(captures), captures, random))
        with contextlib.suppress(CaptureError):
            read += swallowed(path, *([healthy] if number % 10 == 0 else [])) > 0
    assert read > 10


PCAP = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
PCAPNG = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
INTERFACE = struct.pack("<IIHHII", 1, 20, 1, 0, 0, 20)


@pytest.mark.slow("bytes by the million")
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize(
    ("head", "repeated", "times"),
    [
        (PCAP, bytes(16), 1 << 13),
        (PCAP, struct.pack("<IIII", 0, 0, 1 << 20, 1 << 20) + bytes(1 << 20), 24),
        (PCAPNG, struct.pack("<IIII", 0x7777, 16, 0, 16), 1 << 13),
        (PCAPNG, INTERFACE, 1 << 13),
        (PCAPNG, PCAPNG, 1 << 13),
        (PCAPNG, struct.pack("<II", 0x7777, 32 << 20) + bytes((32 << 20) - 12) + b"\0\0\0\2", 2),
    ],
    ids=["packets", "large packets", "blocks", "interfaces", "sections", "large blocks"],
)
def test_a_bomb_is_read_in_bounded_memory(
    tmp_path: Path, pack: Callable[[bytes], bytes], head: bytes, repeated: bytes, times: int
) -> None:
    path = tmp_path / "f"
    path.write_bytes(pack(head + repeated * times))
    reader = CaptureReader(path)
    tracemalloc.start()
    try:
        assert list(reader) == []
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < max(40 << 20, 5 * len(repeated))

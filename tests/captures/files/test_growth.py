"""Test that a capture that is still being written is read to its end, whenever that comes."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from barnabas.captures.capture import open_capture
from barnabas.captures.files.growth import QUIET, Growth
from barnabas.captures.files.pcapng import CaptureError
from tests.places import SAMPLES

DATA = (SAMPLES / "faults.pcapng").read_bytes()
WHOLE = [exchange.row() for exchange in open_capture(SAMPLES / "faults.pcapng").exchanges()]


def read(
    path: Path, steps: list[Callable[[], object]], over: float = QUIET
) -> list[dict[str, object]]:
    """Return the exchanges, taking one step after the other at the end of the data."""
    passed = [0.0]

    def pause(_: float) -> bool:
        if steps:
            steps.pop(0)()
        else:
            passed[0] += over
        return False

    def now() -> float:
        newest = max(each.stat().st_mtime for each in (path, *path.parent.iterdir()))
        return newest + passed[0]

    growth = Growth(pause, now)
    return [exchange.row() for exchange in open_capture(path, growth=growth).exchanges()]


@pytest.mark.parametrize("cuts", [(10_000,), (28, 29, 5_000, 5_001), (200, 7_000, 7_000)])
def test_a_file_that_grows_is_read_as_a_whole(tmp_path: Path, cuts: tuple[int, ...]) -> None:
    path = tmp_path / "run.pcapng"
    path.write_bytes(DATA[: cuts[0]])

    def grow(start: int, end: int | None) -> Callable[[], None]:
        def grown() -> None:
            path.write_bytes(DATA[:start] + DATA[start:end])

        return grown

    ends = [*cuts[1:], None]
    steps = [grow(start, end) for start, end in zip(cuts, ends, strict=True)]
    assert read(path, [*steps]) == WHOLE


def test_it_is_over_when_nothing_was_written_for_long(tmp_path: Path) -> None:
    path = tmp_path / "run.pcapng"
    path.write_bytes(DATA[:9_000])
    path_whole = tmp_path / "other.pcapng"
    path_whole.write_bytes(DATA[:9_000])
    expected = [exchange.row() for exchange in open_capture(path_whole).exchanges()]
    assert 0 < len(expected) < len(WHOLE)
    assert read(path, []) == expected


def gzipped(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=31)
    return packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)


def zstandarded(data: bytes) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(data) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)


@pytest.mark.parametrize(
    ("pack", "size"), [(bytes, 5_000), (bytes, 20_000), (gzipped, 20_000), (zstandarded, 20_000)]
)
def test_what_is_there_is_given_before_more_comes(
    tmp_path: Path, pack: Callable[[bytes], bytes], size: int
) -> None:
    path = tmp_path / "run.pcapng"
    path.write_bytes(pack(DATA[:size]))
    found, paused_at = 0, []

    def pause(_: float) -> bool:
        paused_at.append(found)
        return True

    for _ in open_capture(path, growth=Growth(pause)).exchanges():
        found += 1
    assert paused_at[0] > 0


REPLACED: dict[str, Callable[[Path, Path], object]] = {
    "another file has its name now": lambda path, other: other.rename(path),
    "the file has become shorter": lambda path, _: path.write_bytes(DATA[:9_000]),
}


@pytest.mark.parametrize("reason", REPLACED)
def test_another_file_or_a_shorter_one_in_its_place_ends_it(tmp_path: Path, reason: str) -> None:
    path, other = tmp_path / "run.pcapng", tmp_path / "other"
    path.write_bytes(DATA[:20_000])
    other.write_bytes(DATA)
    with pytest.raises(CaptureError, match=reason):
        read(path, [lambda: REPLACED[reason](path, other)])

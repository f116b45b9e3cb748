"""Test which files are captures, compressed or not, and the one-line reasons for all others."""

from __future__ import annotations

import errno
import gzip
import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import Block, CaptureError, each
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk, Event
from tests.captures.traffic import capture, exchanges, gist, ip_packet, segments, talk, write_pcap

ZSTD = zstandard.ZstdCompressor()
PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, ZSTD.compress]


def talked(path: Path) -> Path:
    return capture(path, segments(talk(), itertools.repeat(100)))


@pytest.mark.parametrize("pack", PACKERS)
def test_compressed_files_read_the_same(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    plain = talked(tmp_path / "plain")
    whole = plain.read_bytes()
    packed = tmp_path / "packed"
    packed.write_bytes(pack(whole[:1000]) + pack(whole[1000:]))
    assert gist(exchanges(packed)) == gist(exchanges(plain))
    reader = CaptureReader(packed)
    list(reader)
    assert reader.position == packed.stat().st_size


@pytest.mark.parametrize("pack", PACKERS)
def test_a_broken_one_is_named(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    packed = tmp_path / "packed"
    noise = random.Random(1).randbytes(1 << 20)
    data = bytearray(pack(talked(tmp_path / "plain").read_bytes() + noise))
    for at in range(12, 40):
        data[at] ^= 0xFF
    packed.write_bytes(data)
    with pytest.raises(CaptureError), CaptureFile(packed) as file:
        list(file.blocks())


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (bytes.fromhex("ffd8ffe000104a46"), "neither pcap nor pcapng (it begins with ff d8 ff e0)"),
        (b"\xfd7zXZ\0\0\0", "compressed by xz"),
        (b"BZh91AY", "compressed by bzip2"),
        (b"PK\x03\x04....", "a zip archive"),
        (b'{"ts": 1}', "JSON, not packets"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (gzip.compress(b"hello", mtime=0), "neither pcap nor pcapng"),
        (bytes.fromhex("d4c3b2a1") + bytes(20), "pcap version 0, not 2"),
    ],
)
def test_what_is_none_is_said(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(CaptureError) as caught:
        CaptureReader(tmp_path / "f")
    assert said in caught.value.reason


def test_without_zstandard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    (tmp_path / "f").write_bytes(ZSTD.compress(b""))
    with pytest.raises(CaptureError, match=r"barnabas with the extra 'capture'"):
        CaptureReader(tmp_path / "f")


def test_a_disk_that_fails_takes_nothing_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packets = [ip_packet(segment) for segment in segments(talk(), itertools.repeat(30))]
    reader = CaptureReader(write_pcap(tmp_path / "whole", packets))
    before = list(CaptureReader(write_pcap(tmp_path / "before", packets[:20])))
    assert sum(isinstance(event, Chunk) for event in before) > 10
    runs = CaptureFile.runs

    def failing(file: CaptureFile, **_: object) -> Iterator[Block]:
        yield from itertools.islice(each(runs(file)), 1 + 20)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(CaptureFile, "runs", failing)
    found: list[Event] = []
    with pytest.raises(CaptureError, match=r"byte \d+: can't be read any further: Input/output"):
        found.extend(reader)
    assert found == before

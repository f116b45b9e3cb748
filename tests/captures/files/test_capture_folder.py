"""Test that a folder of files is read as one capture, whatever their names."""

from __future__ import annotations

import gzip
import itertools
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from barnabas.captures.capture import open_capture
from barnabas.captures.files.capture_folder import listing
from barnabas.captures.reader import CaptureReader
from tests.captures.split import split
from tests.places import SAMPLES

NAMES = ("old-formats.pcap", "wrong.pcap", "midway.pcap")


def rows(*paths: Path) -> list[dict[str, object]]:
    return [
        exchange.row() for exchange in open_capture(*paths).exchanges(inferred=True, strays=True)
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("names", ["seg.pcap{}", "seg-{}", "2026-11-21_180000.cap{}.dmp"])
def test_files_of_tcpdump_are_the_capture_that_was_cut(
    tmp_path: Path, name: str, names: str
) -> None:
    files = split(SAMPLES / name, tmp_path / "f", 10, names)
    assert len(files) > 7
    assert rows(tmp_path / "f") == rows(SAMPLES / name)
    assert list(CaptureReader(tmp_path / "f").paths) == files


def gz(path: Path) -> None:
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


def zst(path: Path) -> None:
    path.with_name(path.name + ".zst").write_bytes(zstandard.compress(path.read_bytes()))
    path.unlink()


@pytest.mark.parametrize("pack", [gz, zst])
def test_files_may_be_packed(tmp_path: Path, pack: Callable[[Path], None]) -> None:
    for path in split(SAMPLES / "wrong.pcap", tmp_path, 10)[:-1]:
        pack(path)
    assert rows(tmp_path) == rows(SAMPLES / "wrong.pcap")


def test_time_goes_before_names(tmp_path: Path) -> None:
    """A ring of files begins anywhere."""
    files = split(SAMPLES / "wrong.pcap", tmp_path, 40, "seg{}")
    order = [files[1], files[0], *files[2:]]
    for number, path in enumerate(reversed(order)):
        path.rename(tmp_path / f"{number:03}.pcap")
    found = listing(tmp_path).captures
    assert [path.name for path in found[:3]] == [
        f"{len(files) - 2:03}.pcap",
        f"{len(files) - 1:03}.pcap",
        f"{len(files) - 3:03}.pcap",
    ]
    assert rows(tmp_path) == rows(SAMPLES / "wrong.pcap")


def test_files_of_one_time_go_by_their_names_as_a_person_sorts_them(tmp_path: Path) -> None:
    for name in ("b10", "b2", "b"):
        shutil.copy(SAMPLES / "wrong.pcap", tmp_path / name)
    assert [path.name for path in listing(tmp_path).captures] == ["b", "b2", "b10"]


def test_what_is_no_capture_is_told_apart(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "faults.pcapng", tmp_path / "run")
    (tmp_path / "notes.pcap").write_text("text")
    (tmp_path / "empty.pcap").write_bytes(b"")
    (tmp_path / "packed.pcap.xz").write_bytes(b"\xfd7zXZ\0 and more")
    (tmp_path / "broken.pcapng").write_bytes(b"\n\r\r\n" + bytes(40))
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"text"))
    (tmp_path / "new.pcapng.part").write_bytes(b"")
    (tmp_path / ".hidden.pcap").write_text("text")
    os.mkfifo(tmp_path / "pipe.pcap")
    found = listing(tmp_path)
    assert [path.name for path in found.captures] == ["run"]
    assert {path.name: reason for path, reason in found.others.items()} == {
        "notes.pcap": "",
        "text.gz": "",
        "empty.pcap": "the file is empty",
        "packed.pcap.xz": "compressed by xz: decompress it first",
        "broken.pcapng": "byte-order magic 00000000",
    }


def test_a_file_without_a_packet_yet_is_the_last(tmp_path: Path) -> None:
    files = split(SAMPLES / "wrong.pcap", tmp_path, 100)
    begun = tmp_path / "a.pcap"
    begun.write_bytes(files[0].read_bytes()[:24])
    assert listing(tmp_path).captures == [*files, begun]
    assert rows(tmp_path) == rows(SAMPLES / "wrong.pcap")


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = set(map(int, os.listdir("/dev/fd")))
    free = (number for number in itertools.count() if number not in taken)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next(itertools.islice(free, 16, None)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("few_descriptors")
def test_more_files_than_a_process_may_open(tmp_path: Path) -> None:
    files = split(SAMPLES / "wrong.pcap", tmp_path, 2)
    assert len(files) > 50
    assert rows(tmp_path) == rows(SAMPLES / "wrong.pcap")


def test_files_of_two_networks_are_merged_by_time(tmp_path: Path) -> None:
    """Every second packet stands in the other of two files, each cut again."""
    ones = split(SAMPLES / "wrong.pcap", tmp_path / "one", 1)
    for number, path in enumerate(ones):
        side = tmp_path / ("even" if number % 2 else "odd")
        whole = side.read_bytes() if side.exists() else path.read_bytes()[:24]
        side.write_bytes(whole + path.read_bytes()[24:])
    split(tmp_path / "even", tmp_path / "both", 7, "even{}")
    split(tmp_path / "odd", tmp_path / "both", 9, "odd{}")
    assert rows(tmp_path / "both") == rows(SAMPLES / "wrong.pcap")

"""Test that a file is returned once, when no process writes it any more."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from barnabas.captures.files import closed_files as module
from barnabas.captures.files.capture_folder import Listing, listed
from barnabas.captures.files.closed_files import being_written, closed_files
from tests.captures.split import split
from tests.places import SAMPLES

SOURCE = SAMPLES / "wrong.pcap"


def names(folder: Path) -> list[str]:
    return [file.path.name for file in closed_files(folder)]


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a system that can't tell whether a process writes a file."""
    monkeypatch.setattr(module, "being_written", lambda _: None)


def test_files_of_ours_are_closed_when_they_have_their_names(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "faults.pcapng", tmp_path / "a.pcapng")
    shutil.copy(SAMPLES / "faults.pcapng", tmp_path / "b.pcapng.part")
    (tmp_path / "notes.txt").write_text("text")
    assert [file.identity for file in closed_files(tmp_path)] == ["a.pcapng"]


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="only Linux says who writes a file")
def test_a_file_that_a_process_writes_is_not_closed(tmp_path: Path) -> None:
    *before, last = split(SOURCE, tmp_path, 40)
    with last.open("ab"):
        assert names(tmp_path) == [path.name for path in before]
    assert names(tmp_path) == [path.name for path in (*before, last)]


@pytest.mark.usefixtures("unknown")
def test_where_nobody_knows_the_last_of_a_series_is_not_closed(tmp_path: Path) -> None:
    *ones, _ = split(SOURCE, tmp_path, 40, "one{}.pcap")
    *others, last = split(SOURCE, tmp_path, 30, "other.pcap{}")
    expected = {path.name for path in (*ones, *others)}
    assert set(names(tmp_path)) == expected
    begun = tmp_path / "other.pcap99"
    begun.write_bytes(last.read_bytes()[:24])
    assert set(names(tmp_path)) == expected, "one without a packet closes none"


def test_a_file_that_is_gone_meanwhile_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = split(SOURCE, tmp_path, 100)[:2]

    def then_gone(paths: Iterable[Path]) -> Listing:
        found = listed(paths)
        one.unlink()
        return found

    monkeypatch.setattr(module, "listed", then_gone)
    assert other.name in (left := names(tmp_path))
    assert one.name not in left


def test_nobody_is_stopped_by_the_look(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x")
    assert being_written(path) in (False, None)
    assert being_written(tmp_path / "missing") is None
    path.write_bytes(b"y")

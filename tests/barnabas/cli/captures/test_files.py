"""Captures as a command line names them."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from barnabas.captures.files.capture_folder import head
from barnabas.cli.captures.files import capture_files
from barnabas.trouble import Trouble
from tests.places import SAMPLES


def folder(tmp_path: Path) -> Path:
    shutil.copy(SAMPLES / "faults.pcapng", tmp_path / "b")
    shutil.copy(SAMPLES / "rebalance.pcap.gz", tmp_path / "a.pcap.gz")
    shutil.copy(SAMPLES / "cut-short.pcap.zst", tmp_path / "c.PCAP.zst")
    (tmp_path / "keys.txt").write_text("no capture")
    (tmp_path / ".hidden").write_text("no capture")
    (tmp_path / "deep.pcap").mkdir()
    return tmp_path


def test_a_folder_is_its_captures_in_the_order_of_their_times(tmp_path: Path) -> None:
    found = capture_files([folder(tmp_path)])
    times = [head(path).beginning for path in found.captures]
    assert times == sorted(times)
    assert {path.name for path in found.captures} == {"a.pcap.gz", "b", "c.PCAP.zst"}
    assert found.others == {tmp_path / "keys.txt": ""}


def test_a_file_may_be_called_anything_and_need_not_be_there(tmp_path: Path) -> None:
    given = [folder(tmp_path) / "keys.txt", tmp_path / "missing"]
    assert capture_files(given).captures == given


def test_a_pattern_that_no_shell_has_read_is_read_here(tmp_path: Path) -> None:
    found = capture_files([folder(tmp_path) / "*.[Pp]*"]).captures
    assert [path.name for path in found] == ["a.pcap.gz", "c.PCAP.zst"]


def test_a_file_with_a_pattern_for_a_name_is_that_file(tmp_path: Path) -> None:
    odd = tmp_path / "a[1].pcap"
    odd.write_bytes(b"")
    assert capture_files([odd]).captures == [odd]


def test_each_file_is_there_once(tmp_path: Path) -> None:
    here = folder(tmp_path)
    assert len(capture_files([here, here / "b", here / "*.gz"]).captures) == 3


def test_a_folder_without_captures_and_a_pattern_without_files_are_said(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="no captures in the folder"):
        capture_files([tmp_path])
    with pytest.raises(Trouble, match="no file matches"):
        capture_files([tmp_path / "*.pcap"])


def test_a_folder_that_can_not_be_read_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(folder: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(folder))

    monkeypatch.setattr(Path, "iterdir", denied)
    with pytest.raises(Trouble, match=f"can't read the folder {tmp_path}: Permission denied"):
        capture_files([tmp_path])

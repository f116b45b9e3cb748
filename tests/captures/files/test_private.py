"""Test that files can only be read by their owner, whatever existed before, and from their first byte."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from barnabas.captures.files import private


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_to_all(path: Path) -> Path:
    path.write_bytes(b"what was there before")
    path.chmod(0o644)
    return path


def linked(path: Path) -> Path:
    path.symlink_to(open_to_all(path.with_name("another")))
    return path


def hard_linked(path: Path) -> Path:
    path.hardlink_to(open_to_all(path.with_name("another")))
    return path


FILES: dict[str, Callable[[Path], Path]] = {
    "nothing": lambda path: path,
    "a file that all can read": open_to_all,
    "a second name of one": hard_linked,
}
THERE = FILES | {"a symbolic link to one": linked}


@pytest.mark.parametrize("there", FILES.values(), ids=FILES)
def test_a_file_is_its_owners_before_its_first_byte(
    tmp_path: Path, there: Callable[[Path], Path]
) -> None:
    path = there(tmp_path / "file")
    file = private.empty(path)
    assert (mode(path), path.stat().st_size) == (0o600, 0)
    os.write(file, b"secret")
    os.close(file)
    assert path.read_bytes() == b"secret"
    assert all(mode(one) == 0o600 for one in tmp_path.iterdir())


def test_a_link_to_a_file_is_refused_and_the_file_stays(tmp_path: Path) -> None:
    path = linked(tmp_path / "file")
    with pytest.raises(OSError, match="it is a symbolic link"):
        private.empty(path)
    assert path.read_bytes() == b"what was there before"
    assert mode(path) == 0o644
    path.resolve().unlink()
    with pytest.raises(OSError, match="it is a symbolic link"):
        private.empty(path)
    assert not path.exists()


def test_a_link_to_a_pipe_is_followed(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    file = private.empty(Path(f"/dev/fd/{writer}"))  # a link, as /dev/stdout is
    os.write(file, b"secret")
    assert os.read(reader, 100) == b"secret"
    for each in (file, reader, writer):
        os.close(each)


@pytest.mark.parametrize("there", THERE.values(), ids=THERE)
def test_a_file_takes_the_place_of_another_whole(
    tmp_path: Path, there: Callable[[Path], Path]
) -> None:
    """Open descriptors and other links of the previous file still have its content."""
    path = there(tmp_path / "file")
    names = {one.name for one in tmp_path.iterdir()} | {"file"}
    with path.open("rb") if path.exists() else io.BytesIO(b"what was there before") as before:
        private.replace(path, b"secret")
        assert before.read() == b"what was there before"
    assert (mode(path), path.read_bytes(), path.is_symlink()) == (0o600, b"secret", False)
    assert {one.name for one in tmp_path.iterdir()} == names


def test_what_cannot_be_replaced_stays_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        private.replace(tmp_path / "folder", b"secret")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_a_file_of_somebody_else_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = open_to_all(tmp_path / "file")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="another user"):
        private.empty(path)
    assert path.read_bytes() == b"what was there before"
    assert mode(path) == 0o644  # also where the superuser might


def test_a_disk_without_permissions_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = open_to_all(tmp_path / "file")

    def refused(file: int, wanted: int) -> None:
        raise PermissionError(1, os.strerror(1))

    monkeypatch.setattr(os, "fchmod", refused)
    os.close(private.empty(path))
    assert path.read_bytes() == b""


def test_a_file_that_is_being_written_is_not_emptied(tmp_path: Path) -> None:
    path = tmp_path / "run.pcapng"
    first = private.empty(path)
    try:
        os.write(first, b"all that passed")
        with pytest.raises(OSError, match="another process is writing to it"):
            private.empty(path)
        assert path.read_bytes() == b"all that passed"
    finally:
        os.close(first)
    os.close(private.empty(path))
    assert path.read_bytes() == b""


def test_a_pipe_that_nobody_reads_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="the pipe has no reader"):
        private.empty(tmp_path / "pipe")


def test_a_pipe_with_a_reader_is_written_as_slowly_as_it_reads(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    file = private.empty(tmp_path / "pipe")
    assert os.get_blocking(file)
    os.write(file, b"secret")
    assert os.read(reader, 100) == b"secret"
    os.close(file)
    os.close(reader)

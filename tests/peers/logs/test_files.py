"""Logs in files: what was acknowledged is there for the next leader, and there is one leader at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.peers.client_0_8 import Message
from barnabas.peers.client_0_8.message_sets import read_from, write
from barnabas.peers.logs import files
from barnabas.peers.logs.files import Full, Logs, path_of

PLACE = ("t", 0)
ONE = write([Message(None, b"v")])


def appended(logs: Logs, data: bytes = ONE) -> int:
    log = logs.get(PLACE)
    assert log is not None
    return log.append(data)[0]


def read(logs: Logs, offset: int) -> list[tuple[int, bytes | None]]:
    log = logs.get(PLACE)
    assert log is not None
    found = read_from(log.read(offset, 1 << 20), offset).messages
    return [(at, message.value) for at, message in found]


def test_a_partition_has_one_leader_and_the_next_one_has_all(tmp_path: Path) -> None:
    first, second = Logs(tmp_path), Logs(tmp_path)
    assert first.lead([PLACE]) == 0
    assert [appended(first), appended(first)] == [0, 1]
    assert second.lead([PLACE]) == 1
    assert second.get(PLACE) is None
    first.lead([])
    assert first.get(PLACE) is None
    assert second.lead([PLACE]) == 0
    assert read(second, 1) == [(1, b"v")]
    assert appended(second) == 2
    second.close()


def test_what_a_dead_leader_left_half_written_is_cut_off(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    logs.lead([PLACE])
    appended(logs)
    logs.close()
    with path_of(tmp_path, PLACE).open("ab") as file:
        file.write(write([Message(None, bytes(100))])[:-1])
    logs.lead([PLACE])
    assert appended(logs) == 1
    assert read(logs, 0) == [(0, b"v"), (1, b"v")]
    assert path_of(tmp_path, PLACE).stat().st_size == 2 * len(ONE)
    logs.close()


def test_leading_the_same_again_keeps_the_file_open(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    logs.lead([PLACE])
    before = logs.get(PLACE)
    assert logs.lead([PLACE, ("t", 1)]) == 0
    assert logs.get(PLACE) is before
    logs.close()


def test_a_full_log_refuses_and_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LOG_LIMIT", 2 * len(ONE))
    logs = Logs(tmp_path)
    logs.lead([PLACE])
    assert [appended(logs), appended(logs)] == [0, 1]
    with pytest.raises(Full):
        appended(logs)
    assert read(logs, 0) == [(0, b"v"), (1, b"v")]
    logs.close()

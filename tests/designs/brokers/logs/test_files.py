"""Logs in files: what was acknowledged is there for the next leader, and there is one leader at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from barnabas.designs.brokers.logs import files
from barnabas.designs.brokers.logs.files import LogDeleted, LogFile, LogFull, Logs, path_of
from barnabas.designs.protocol_guide.client_0_8 import Message
from barnabas.designs.protocol_guide.client_0_8.message_sets import read_from, write

PLACE = ("t", 0)
ONE = write([Message(None, b"v")])


TORN = write([Message(None, bytes(100))])[:-1]


class Said(list[str]):
    """What a person was told."""

    def one(self) -> str:
        (line,) = self
        return line


@pytest.fixture
def said() -> Said:
    return Said()


@pytest.fixture
def logs(tmp_path: Path, said: Said) -> Iterator[Logs]:
    found = Logs(tmp_path, said.append)
    yield found
    found.close()


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


def test_what_a_dead_leader_left_half_written_is_cut_off_and_said(
    tmp_path: Path, logs: Logs, said: Said
) -> None:
    logs.lead([PLACE])
    appended(logs)
    logs.close()
    with path_of(tmp_path, PLACE).open("ab") as file:
        file.write((1).to_bytes(8) + TORN[8:])
    logs.lead([PLACE])
    assert "t-0.log: a write that was not finished, 125 bytes behind 1 record" in said.one()
    assert appended(logs) == 1
    assert read(logs, 0) == [(0, b"v"), (1, b"v")]
    assert path_of(tmp_path, PLACE).stat().st_size == 2 * len(ONE)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"a letter, and no log",
        lambda data: data[: len(ONE) + 8] + b"\x7f" + data[len(ONE) + 9 :],
        lambda data: data[: 2 * len(ONE) - 1] + b"w" + data[2 * len(ONE) :],
        lambda data: data + bytes(100),
    ],
    ids=["another file", "a size", "a value", "zeros at the end"],
)
def test_a_damaged_file_is_left_as_it_is_and_costs_no_other(
    damage: Callable[[bytes], bytes], tmp_path: Path, logs: Logs, said: Said
) -> None:
    path = path_of(tmp_path, PLACE)
    logs.lead([PLACE])
    for _ in range(3):
        appended(logs)
    logs.close()
    path.write_bytes(damaged := damage(path.read_bytes()))
    for _ in range(2):
        assert logs.lead([PLACE, ("u", 0)]) == 0
    assert logs.get(PLACE) is None
    assert set(logs.failed) == {PLACE}
    assert logs.get(("u", 0)) is not None
    assert "t-0.log can't be opened: no record" in said.one()
    assert path.read_bytes() == damaged
    path.unlink()
    assert logs.lead([PLACE]) == 0
    assert appended(logs) == 0


def test_what_can_not_be_opened_is_said_once_a_reason(logs: Logs, said: Said) -> None:
    places = [("a" * 300, 0), ("a" * 300, 1), PLACE]
    for _ in range(2):
        logs.lead(places)
    assert "-0.log and 1 more can't be opened: File name too long" in said.one()
    assert appended(logs) == 0


def test_more_logs_than_files_may_be_open_leave_room_for_connections(
    logs: Logs, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (4, 4))
    logs.lead([("t", number) for number in range(5)])
    assert "t-3.log and 1 more can't be opened: 3 are open" in said.one()
    assert appended(logs) == 0
    logs.lead([("t", number) for number in range(2, 5)])
    assert logs.failed == {}


def test_a_file_that_is_deleted_takes_no_records(tmp_path: Path, logs: Logs, said: Said) -> None:
    logs.lead([PLACE])
    appended(logs)
    path_of(tmp_path, PLACE).unlink()
    with pytest.raises(LogDeleted):
        appended(logs)
    assert said.one() == "t-0.log takes no records: the file is deleted"
    assert read(logs, 0) == [(0, b"v")]


def test_what_is_another_s_when_it_is_open_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, others, real = Logs(tmp_path), Logs(tmp_path), LogFile.__init__

    def large(self: LogFile, path: Path, say: Callable[[str], None]) -> None:
        real(self, path, say)
        logs.keep([("t", 1)])  # as another thread does

    logs.keep([PLACE, ("t", 1), ("t", 2)])
    with monkeypatch.context() as patched:
        patched.setattr(LogFile, "__init__", large)
        logs.open()
    assert [logs.get(("t", number)) is None for number in range(3)] == [True, False, True]
    assert others.lead([PLACE, ("t", 1), ("t", 2)]) == 1
    logs.close()
    others.close()


def test_a_full_log_refuses_and_stays_as_it_is(logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOG_LIMIT", 2 * len(ONE))
    logs.lead([PLACE])
    assert [appended(logs), appended(logs)] == [0, 1]
    with pytest.raises(LogFull):
        appended(logs)
    assert read(logs, 0) == [(0, b"v"), (1, b"v")]

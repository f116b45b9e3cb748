from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from barnabas.fuzz.targets.connections import BACKLOG, SETTLED_S, Connections, Counts


@pytest.fixture
def connections() -> Iterator[Connections]:
    """To a listener that takes nobody."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        found = Connections(32)
        found.aim(listener.getsockname())
        yield found
        found.close()


@pytest.fixture
def unsettled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is taken by itself, however long dialling takes."""
    monkeypatch.setattr("barnabas.fuzz.targets.connections.SETTLED_S", 3600.0)


@pytest.mark.usefixtures("unsettled")
def test_no_more_wait_to_be_taken_than_a_short_backlog_holds(connections: Connections) -> None:
    for _ in range(BACKLOG):
        assert connections.may_dial()
        assert connections.dial() is not None
    assert not connections.may_dial()


@pytest.mark.usefixtures("unsettled")
def test_who_was_heard_or_dropped_makes_room(connections: Connections) -> None:
    lanes = [connections.dial() for _ in range(BACKLOG)]
    first, second = lanes[:2]
    assert first is not None
    assert second is not None
    connections.heard(first)
    assert connections.may_dial()
    connections.dial()
    assert not connections.may_dial()
    connections.drop(second)
    assert connections.may_dial()


def test_who_says_nothing_for_long_was_taken_all_the_same(connections: Connections) -> None:
    lanes = [lane for _ in range(BACKLOG) if (lane := connections.dial())]
    for lane in lanes:
        lane.opened += 1000  # not yet
    assert not connections.may_dial()
    lanes[-1].opened -= 1000 + 2 * SETTLED_S
    assert connections.may_dial()


def test_what_does_not_fit_is_closed_on_the_way(connections: Connections) -> None:
    for name in ("join", "", "share"):
        lane = connections.dial()
        assert lane is not None
        lane.session = name
        connections.idle.append(lane)
    found = connections.fitting(lambda lane: not lane.session)
    assert found is not None
    assert not found.gone
    assert [lane.session for lane in connections.idle] == ["join"]
    assert connections.fitting(lambda lane: False) is None
    assert connections.idle == []


def test_sessions_that_fail_in_a_row_are_counted_once_one_was_had() -> None:
    counts = Counts()
    for _ in range(3):
        counts.session(had=False)
    assert (counts.sessions_failed, counts.failing) == (3, 0), "a broker may lack what they need"
    counts.session(had=True)
    counts.session(had=False)
    counts.session(had=False)
    assert counts.failing == 2
    counts.session(had=True)
    assert counts.failing == 0
    counts.session(had=False)
    counts.anew()
    assert (counts.sessions_failed, counts.failing, counts.had) == (6, 0, False)

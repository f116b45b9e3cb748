from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from barnabas.fuzz.targets.connections import BACKLOG, Connections


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

from __future__ import annotations

from typing import Any

import pytest

from proxy.matching import Match, Until
from proxy.message import Message
from specs.frames import Direction


def made(**settings: Any) -> Match:
    return Match.model_validate(settings)


@pytest.mark.parametrize(
    ("match", "direction", "key", "version", "meets"),
    [
        (made(), "request", 12345, -1, True),
        (made(api="Fetch"), "request", 1, 11, True),
        (made(api="FETCH"), "response", 1, 0, True),
        (made(api="Fetch"), "request", 0, 11, False),
        (made(api=1), "request", 1, 11, True),
        (made(api=("Fetch", 0)), "request", 0, 11, True),
        (made(direction="request"), "request", 1, 0, True),
        (made(direction="request"), "response", 1, 0, False),
        (made(version=11), "request", 1, 11, True),
        (made(version="11"), "request", 1, 12, False),
        (made(version="3-9"), "request", 1, 3, True),
        (made(version="3-9"), "request", 1, 9, True),
        (made(version="3-9"), "request", 1, 10, False),
        (made(version="3-9"), "request", 1, 2, False),
        (made(version="12+"), "request", 1, 12, True),
        (made(version="12+"), "request", 1, 11, False),
    ],
)
def test_kinds_of_message(
    match: Match, direction: Direction, key: int, version: int, meets: bool
) -> None:
    assert match.key_matches(direction, key, version) is meets


@pytest.mark.parametrize(
    ("match", "client_id", "broker", "meets"),
    [
        (made(), None, None, True),
        (made(client_id="orders-*"), "orders-1", 1, True),
        (made(client_id="orders-*"), "Orders-1", 1, False),
        (made(client_id="orders"), "orders-1", 1, False),
        (made(client_id="*"), None, 1, False),
        (made(client_id=("a", "b?")), "b1", 1, True),
        (made(broker=1), None, 1, True),
        (made(broker=1), None, 2, False),
        (made(broker=1), None, None, False),
        (made(broker=(1, 2)), None, 2, True),
        (made(broker=1, client_id="a"), "b", 1, False),
    ],
)
def test_peers(match: Match, client_id: str | None, broker: int | None, meets: bool) -> None:
    assert match.peer_matches(client_id, broker) is meets


def test_messages_must_meet_both() -> None:
    message = Message("request", 11, 5, "app", 1, 0, 0, None, 10, None)
    assert made(api="JoinGroup", client_id="app").matches(message)
    assert not made(api="JoinGroup", client_id="other").matches(message)
    assert not made(api="SyncGroup", client_id="app").matches(message)


def test_kinds_are_those_declared() -> None:
    assert list(made(api="Fetch", version="17+", direction="response").kinds()) == [
        (1, "response", 17),
        (1, "response", 18),
    ]


@pytest.mark.parametrize(
    ("match", "words"),
    [
        (made(), "any message"),
        (made(api=("Produce", "Fetch"), direction="response"), "Produce or Fetch response"),
        (
            made(api=11, version="3-4", client_id="a*", broker=(2, 1)),
            "JoinGroup message v3-4 of client a* at broker 1 or 2",
        ),
        (Until.model_validate({"version": 3, "direction": "request"}), "any request v3"),
    ],
)
def test_words(match: Match, words: str) -> None:
    assert match.describe() == words


def test_matches_are_values() -> None:
    assert {made(api="Fetch"), made(api=1)} == {made(api="fetch")}

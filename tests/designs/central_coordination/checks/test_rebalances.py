"""Where partitions of a centrally coordinated group begin, and who was asked before: exchange by exchange."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.checks.finding import MS
from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.central_coordination.checks.rebalances import CHECK
from barnabas.designs.central_coordination.schemas import CENTRAL_COORDINATION
from barnabas.specs.dialects.keys import own_key
from tests.designs.messages import REGISTER

OLD, NEW = "10.0.0.1:9092", "10.0.0.2:9092"
"""The coordinator that dies, and the one after it."""

Offsets = dict[str, int]
"""Of partitions of the topic t."""


class Group:
    """A group's exchanges, a ms after each other; a consumer has a connection to each coordinator."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.losses = 0

    def register(self, client: str, broker: str = OLD, *, auto_commit: bool = True) -> None:
        body = REGISTER | {"consumer_id": client, "auto_commit": auto_commit}
        self._add("RegisterConsumer", client, broker, body, {})

    def stop(self, client: str, offsets: Offsets, broker: str = OLD) -> None:
        self._add("StopFetcher", client, broker, {}, {"offset_info": _rows(offsets)})

    def start(self, client: str, offsets: Offsets, broker: str = OLD) -> None:
        self._add("StartFetcher", client, broker, {"offset_info": _rows(offsets)}, {})

    def begin(self, **owned: Offsets) -> None:
        """All register with the old coordinator, and start for the first time."""
        for client in owned:
            self.register(client)
        for client in owned:
            self.stop(client, {})
        for client, offsets in owned.items():
            self.start(client, offsets)

    def found(self) -> list[tuple[str, str]]:
        return [(one.severity, one.what) for _, one in run(self.exchanges, (CHECK,))]

    def _add(
        self, name: str, client: str, broker: str, asked: dict[str, Any], came: dict[str, Any]
    ) -> None:
        api, at = CENTRAL_COORDINATION.api(name), len(self.exchanges) + 1
        connection = ord(client) * 2 + (broker == NEW)
        self.exchanges.append(
            Exchange(
                *(at * MS, connection, "10.0.0.9:5000", client, 1),
                *(own_key(CENTRAL_COORDINATION, api), api.version, at, 10),
                latency_ms=0.5,
                request_body=api.request.codec(api.version).encode(asked),
                response_body=api.responses[0].codec(api.version).encode(came),
                server_address=broker,
                losses=self.losses,
            )
        )


def _rows(offsets: Offsets) -> list[dict[str, Any]]:
    return [{"topic": "t", "partition": at, "offset": one} for at, one in offsets.items()]


def test_who_is_started_unasked_may_have_been_anywhere() -> None:
    group = Group()
    group.begin(a={"0-0": -1}, b={"0-1": -1})
    for client in "ab":
        group.register(client, NEW)
    group.stop("a", {"0-0": 42}, NEW)
    group.start("a", {"0-0": 42}, NEW)
    group.start("b", {"0-1": -1}, NEW)
    what = "group g: b was started, though it had not been asked where it was"
    assert group.found() == [("error", what)]


def test_a_stop_that_was_asked_for_before_a_start_and_comes_behind_it_is_none_of_that() -> None:
    group = Group()
    for client in "ab":
        group.register(client)
    group.stop("a", {})
    group.stop("b", {})
    group.exchanges[-1].latency_ms = 9.5  # b answers behind its start
    group.start("a", {"0-0": -1})
    group.start("b", {"0-1": -1})
    for _ in range(10):
        group.stop("a", {})
    group.start("a", {"0-0": -1})
    group.stop("b", {})
    what = "group g: a was started before b had stopped"
    assert group.found()[-1] == ("error", what)


def test_where_something_is_missing_it_may_have_been_asked() -> None:
    group = Group()
    group.register("a")
    group.losses += 1
    group.start("a", {"0-0": -1})
    assert group.found() == []


def test_what_the_old_coordinator_was_told_the_new_one_has_to_know() -> None:
    group = Group()
    group.begin(a={"0-0": -1})
    group.stop("a", {"0-0": 42})
    group.register("b", NEW)
    group.stop("b", {}, NEW)
    group.start("b", {"0-0": 7}, NEW)
    group.register("a", NEW)
    group.stop("a", {"0-0": 42}, NEW)  # that is known
    what = "group g: t 0-0 was started from offset 7, but the group had been at 42"
    assert group.found() == [("warning", what)]


def test_without_auto_commit_a_group_may_go_back() -> None:
    group = Group()
    group.register("a", auto_commit=False)
    for offset in (42, 7):
        group.stop("a", {})
        group.start("a", {"0-0": offset})
    assert group.found() == []


def test_who_comes_late_says_that_others_began_behind_it() -> None:
    group = Group()
    group.begin(a={"0-0": -1}, b={"0-1": -1})
    group.register("a", NEW)
    group.stop("a", {"0-0": 42}, NEW)
    group.start("a", {"0-0": 42, "0-1": -1}, NEW)
    group.register("b", NEW)
    group.stop("a", {"0-0": 50, "0-1": 9}, NEW)
    group.stop("b", {"0-1": 42}, NEW)
    group.start("a", {"0-0": 50}, NEW)
    group.start("b", {"0-1": 42}, NEW)
    what = "group g: t 0-1 was started from offset -1 at a, though b was at 42"
    assert group.found() == [("warning", what)]


def test_who_is_asked_again_in_a_retry_says_no_more_than_others_were_told() -> None:
    group = Group()
    group.begin(a={"0-0": -1}, b={})
    group.stop("a", {"0-0": 42})
    group.stop("b", {})
    group.start("b", {"0-0": 42})
    group.stop("a", {"0-0": 42})  # before it was told to start
    group.stop("b", {"0-0": 43})
    group.start("a", {"0-0": 43})
    group.start("b", {})
    assert group.found() == []


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("body", ["request_body", "response_body"])
def test_what_can_not_be_read_costs_no_more_than_itself(at: int, body: str) -> None:
    group = Group()
    group.begin(a={"0-0": -1})
    setattr(group.exchanges[at], body, b"\x00")
    assert {severity for severity, _ in group.found()} <= {"error"}

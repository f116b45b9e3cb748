"""The model test finds the bugs that it is there for."""

from __future__ import annotations

import pytest

from barnabas.designs.central_coordination.peers import (
    consumer,
    coordinator,
    group,
    interest,
    offsets,
    registration,
    settings,
)
from barnabas.designs.consuming import connector
from tests.designs.central_coordination.peers.test_model import ENDINGS, Group
from tests.designs.mutants import Mutant, assert_caught

# fmt: off
MUTANTS = (
    Mutant("two owners of a partition", interest,
        "            at += share\n", ""),
    Mutant("a partition is forgotten", interest,
        "partitions[at : at + share]]", "partitions[at : at + share - 1]]"),
    Mutant("a new partition is forgotten", group,
        "topic: tuple(partitions)\n", "topic: tuple(partitions)[:4]\n"),
    Mutant("a rebalance never ends", group,
        "        self._step(states.ALL_STARTED)\n", "        return []\n"),
    Mutant("a rebalance does not wait for all to stop", group,
        'if self.state != states.STOPPING or self._waits_for("StopFetcher"):',
        "if self.state != states.STOPPING:"),
    Mutant("a failed consumer changes nothing", coordinator,
        "        else:\n            self._try(group)\n\n    def _forget", "\n    def _forget"),
    Mutant("what changes during a rebalance is lost", coordinator,
        "                    self._try(group)  # what changed meanwhile\n", ""),
    Mutant("a failure during a rebalance is not retried", group,
        "        return actions + self._stop_all(now)\n\n    def taken",
        "        return actions\n\n    def taken"),
    Mutant("lost pings are not counted", coordinator,
        'one.lost_pings += asked.api == "Ping"', "one.lost_pings += 0"),
    Mutant("no ping is sent", coordinator,
        "if number in self._connections and one.ping_due <= now:", "if one.ping_due <= now - (1 << 40):"),
    Mutant("an unanswered stop-fetcher is waited for", coordinator,
        'if asked.api != "Ping":\n                self._drop',
        'if asked.api == "":\n                self._drop'),
    Mutant("an id may be there twice", registration,
        'if group is not None and body["consumer_id"] in group.consumers:', "if body is None:"),
    Mutant("a former coordinator keeps its groups", coordinator,
        "        self.groups = {}\n        self.queues", "        self.queues"),
    Mutant("a stale consumer's offset is stored", offsets,
        "max(offset, before.get(at, offset))", "offset"),
    Mutant("what was told before a retry is lost", group,
        '        return [one.ask("StopFetcher", now) for _',
        '        self._offsets = {}\n        return [one.ask("StopFetcher", now) for _'),
    Mutant("who registers while others stop is not asked where it is", group,
        "if self.state not in (states.STOPPING, states.OFFSETS):", "if True:"),
    Mutant("who registers while offsets are read is not asked where it is", group,
        "if self.state not in (states.STOPPING, states.OFFSETS):", "if self.state != states.STOPPING:"),
    Mutant("offsets that were read before a retry are taken", group,
        "if self.state != states.OFFSETS or asked != self._reading:", "if self.state != states.OFFSETS:"),
    Mutant("offsets are not stored", group,
        "        if self._offsets:\n", "        if self._offsets is None:\n"),
    Mutant("fetchers start from the beginning", group,
        "offsets.get((topic, number), -1)", "-1"),
    Mutant("a consumer that hears nothing goes on", settings,
        "self.session_timeout_ms // 2 if", "self.session_timeout_ms * 9 if"),
    Mutant("a consumer does not stop its fetchers", consumer,
        "if before == states.FETCHING and following != states.FETCHING:", "if following == states.DOWN:"),
    Mutant("a consumer asks the same broker for ever", connector,
        "            self._turn += 1\n", ""),
)
# fmt: on
"""Each is a bug that somebody might write."""


@pytest.mark.slow("a long property")
@pytest.mark.parametrize("mutant", MUTANTS, ids=[one.what for one in MUTANTS])
def test_it_is_found(mutant: Mutant) -> None:
    assert_caught(mutant, Group, ENDINGS)

"""The model tests find the bugs that they are there for. Each is a bug that somebody might write."""

from __future__ import annotations

import pytest

from barnabas.designs.central_coordination.peers import consumer as central_consumer
from barnabas.designs.central_coordination.peers import coordinator as central_coordinator
from barnabas.designs.central_coordination.peers import group as central_group
from barnabas.designs.central_coordination.peers import interest as central_interest
from barnabas.designs.central_coordination.peers import offsets as central_offsets
from barnabas.designs.central_coordination.peers import registration as central_registration
from barnabas.designs.central_coordination.peers import settings as central_settings
from barnabas.designs.consumer_rewrite.peers import consumer as rewrite_consumer
from barnabas.designs.consumer_rewrite.peers import coordinator as rewrite_coordinator
from barnabas.designs.consumer_rewrite.peers import group as rewrite_group
from barnabas.designs.consumer_rewrite.peers import joining as rewrite_joining
from barnabas.designs.consumer_rewrite.peers import strategies as rewrite_strategies
from barnabas.designs.consuming import connector
from tests.designs.central_coordination.peers import test_model as central
from tests.designs.consumer_rewrite.peers import test_model as rewrite
from tests.designs.consumer_rewrite.peers.test_strategies import Lying
from tests.designs.group_machine import Machine
from tests.designs.mutants import Mutant, assert_caught

# fmt: off
REWRITE = (
    Mutant("a stale commit is taken", rewrite_group,
        "        elif generation != self.record.generation:\n",
        "        elif generation > self.record.generation:\n"),
    Mutant("a commit of a generation to come is taken", rewrite_group,
        "        elif generation != self.record.generation:\n",
        "        elif generation < self.record.generation:\n"),
    Mutant("a commit of who is no member is taken", rewrite_group,
        "        if name not in self._sessions.live:\n", "        if name is None:\n"),
    Mutant("a commit is answered and not kept", rewrite_group,
        "            actions.append(self._write(self.record))\n", "            pass\n"),
    Mutant("a stale heartbeat is taken", rewrite_group,
        'if body["group_generation_id"] != self.record.generation:', 'if body["group_generation_id"] < 0:'),
    Mutant("two owners of a partition", rewrite_strategies,
        "            at += share\n", ""),
    Mutant("the range of a consumer is too short", rewrite_strategies,
        "for number in range(at, at + share)", "for number in range(at, at + share - 1)"),
    Mutant("a rebalance never ends", rewrite_group,
        "if self.state != states.PREPARE or self._awaited():", "if self.state:"),
    Mutant("a rebalance does not wait for all", rewrite_group,
        "if self.state != states.PREPARE or self._awaited():", "if self.state != states.PREPARE:"),
    Mutant("the generation stays what it was", rewrite_joining,
        "before.generation + 1,", "max(1, before.generation),"),
    Mutant("nobody is ever dead", rewrite_group,
        "if session.deadline > now:", "if True:"),
    Mutant("the answer has the generation before", rewrite_group,
        "joined(self.record.generation, member)", "joined(self.record.generation - 1, member)"),
    Mutant("two consumers get the same id", rewrite_joining,
        '-{new_id()}"', '-id"'),
    Mutant("a new coordinator begins with the first generation", rewrite_coordinator,
        "                record = decode(entry.data)\n", "                record = GroupEntry()\n"),
    Mutant("a consumer that is told to join again goes on", rewrite_consumer,
        "if following not in CONSUMES and", "if following == states.DOWN and"),
)
LYING = (
    Mutant("a partition that a strategy leaves out is let through", rewrite_strategies,
        "    if free:\n", "    if free and not owned:\n"),
    Mutant("a strategy that lies leaves everything as it was", rewrite_group,
        "self._next = decided(self.record, (), self._topics, strategies)", "self._next = self.record"),
)
CENTRAL = (
    Mutant("two owners of a partition", central_interest,
        "            at += share\n", ""),
    Mutant("a partition is forgotten", central_interest,
        "partitions[at : at + share]]", "partitions[at : at + share - 1]]"),
    Mutant("a new partition is forgotten", central_group,
        "topic: tuple(partitions)\n", "topic: tuple(partitions)[:4]\n"),
    Mutant("a rebalance never ends", central_group,
        "        self._step(states.ALL_STARTED)\n", "        return []\n"),
    Mutant("a rebalance does not wait for all to stop", central_group,
        'if self.state != states.STOPPING or self._waits_for("StopFetcher"):',
        "if self.state != states.STOPPING:"),
    Mutant("a failed consumer changes nothing", central_coordinator,
        "        else:\n            self._try(group)\n\n    def _forget", "\n    def _forget"),
    Mutant("what changes during a rebalance is lost", central_coordinator,
        "                    self._try(group)  # changes during the rebalance\n", ""),
    Mutant("a failure during a rebalance is not retried", central_group,
        "        return actions + self._stop_all(now)\n\n    def taken",
        "        return actions\n\n    def taken"),
    Mutant("lost pings are not counted", central_coordinator,
        'consumer.lost_pings += request.api == "Ping"', "consumer.lost_pings += 0"),
    Mutant("no ping is sent", central_coordinator,
        "if number in self._connections and consumer.pinged and consumer.ping_due <= now:",
        "if consumer.ping_due <= now - (1 << 40):"),
    Mutant("an unanswered stop-fetcher is waited for", central_coordinator,
        'if request.api != "Ping":\n                self._drop',
        'if request.api == "":\n                self._drop'),
    Mutant("an id may be there twice", central_registration,
        'if group is not None and body["consumer_id"] in group.consumers:', "if body is None:"),
    Mutant("a former coordinator keeps its groups", central_coordinator,
        "        self.groups = {}\n        self.queues", "        self.queues"),
    Mutant("a stale consumer's offset is stored", central_offsets,
        "max(offset, before.get(at, offset))", "offset"),
    Mutant("what was told before a retry is lost", central_group,
        '        return [consumer.ask("StopFetcher", now) for _',
        '        self._offsets = {}\n        return [consumer.ask("StopFetcher", now) for _'),
    Mutant("who registers while others stop is not asked where it is", central_group,
        "if self.state not in (states.STOPPING, states.OFFSETS):", "if True:"),
    Mutant("who registers while offsets are read is not asked where it is", central_group,
        "if self.state not in (states.STOPPING, states.OFFSETS):", "if self.state != states.STOPPING:"),
    Mutant("offsets that were read before a retry are taken", central_group,
        "if self.state != states.OFFSETS or request != self._reading:", "if self.state != states.OFFSETS:"),
    Mutant("offsets are not stored", central_group,
        "        if self._offsets:\n", "        if self._offsets is None:\n"),
    Mutant("fetchers start from the beginning", central_group,
        "offsets.get((topic, number), -1)", "-1"),
    Mutant("a consumer that hears nothing goes on", central_settings,
        "self.session_timeout_ms // 2 if", "self.session_timeout_ms * 9 if"),
    Mutant("a consumer does not stop its fetchers", central_consumer,
        "if before == states.FETCHING and following != states.FETCHING:", "if following == states.DOWN:"),
    Mutant("a consumer asks the same broker for ever", connector,
        "            self._turn += 1\n", ""),
)
# fmt: on

LONG = (pytest.mark.slow("a long property"),)
LONGER = {
    "a stale commit is taken",
    "a commit of a generation to come is taken",
    "a stale heartbeat is taken",
    "what changes during a rebalance is lost",
    "who registers while offsets are read is not asked where it is",
    "offsets that were read before a retry are taken",
    "a consumer asks the same broker for ever",
}
"""Found after some thousand steps."""
DEEP = pytest.mark.deep("4 to 9 s each")
ROWS = [
    pytest.param(
        *(one, machine, endings),
        id=f"{design}: {one.what}",
        marks=(*marks, DEEP) if one.what in LONGER else marks,
    )
    for design, mutants, machine, endings, marks in (
        ("rewrite", REWRITE, rewrite.Group, rewrite.ENDINGS, LONG),
        ("strategies", LYING, Lying, ("without_a_partition",), ()),
        ("central", CENTRAL, central.Group, central.ENDINGS, LONG),
    )
    for one in mutants
]


@pytest.mark.parametrize(("mutant", "machine", "endings"), ROWS)
def test_it_is_found(mutant: Mutant, machine: Machine, endings: tuple[str, ...]) -> None:
    assert_caught(mutant, machine, endings)

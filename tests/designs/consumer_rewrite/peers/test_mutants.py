"""The model test finds the bugs that it is there for."""

from __future__ import annotations

import pytest

from barnabas.designs.consumer_rewrite.peers import (
    consumer,
    coordinator,
    group,
    joining,
    strategies,
)
from tests.designs.consumer_rewrite.peers.test_model import ENDINGS, Group
from tests.designs.consumer_rewrite.peers.test_strategies import Lying
from tests.designs.mutants import Mutant, assert_caught

# fmt: off
MUTANTS = (
    Mutant("a stale commit is taken", group,
        "        elif generation != self.record.generation:\n",
        "        elif generation > self.record.generation:\n"),
    Mutant("a commit of a generation to come is taken", group,
        "        elif generation != self.record.generation:\n",
        "        elif generation < self.record.generation:\n"),
    Mutant("a commit of who is no member is taken", group,
        "        if name not in self._sessions.live:\n", "        if name is None:\n"),
    Mutant("a commit is answered and not kept", group,
        "            actions.append(self._write(self.record))\n", "            pass\n"),
    Mutant("a stale heartbeat is taken", group,
        'if body["group_generation_id"] != self.record.generation:', 'if body["group_generation_id"] < 0:'),
    Mutant("two owners of a partition", strategies,
        "            at += share\n", ""),
    Mutant("the range of a consumer is too short", strategies,
        "for number in range(at, at + share)", "for number in range(at, at + share - 1)"),
    Mutant("a rebalance never ends", group,
        "if self.state != states.PREPARE or self._awaited():", "if self.state:"),
    Mutant("a rebalance does not wait for all", group,
        "if self.state != states.PREPARE or self._awaited():", "if self.state != states.PREPARE:"),
    Mutant("the generation stays what it was", joining,
        "before.generation + 1,", "max(1, before.generation),"),
    Mutant("nobody is ever dead", group,
        "if session.deadline > now:", "if True:"),
    Mutant("the answer has the generation before", group,
        "joined(self.record.generation, one)", "joined(self.record.generation - 1, one)"),
    Mutant("two consumers get the same id", joining,
        '-{new_id()}"', '-id"'),
    Mutant("a new coordinator begins with the first generation", coordinator,
        "                record = decode(entry.data)\n", "                record = GroupEntry()\n"),
    Mutant("a consumer that is told to join again goes on", consumer,
        "if following not in CONSUMES and", "if following == states.DOWN and"),
)
LYING = (
    Mutant("a partition that a strategy leaves out is let through", strategies,
        "    if free:\n", "    if free and not owned:\n"),
    Mutant("a strategy that lies leaves everything as it was", group,
        "self._next = decided(self.record, (), self._topics, strategies)", "self._next = self.record"),
)
# fmt: on
"""Each is a bug that somebody might write."""


@pytest.mark.parametrize("mutant", LYING, ids=[one.what for one in LYING])
def test_it_is_found_where_strategies_lie(mutant: Mutant) -> None:
    assert_caught(mutant, Lying, ["without_a_partition"])


@pytest.mark.slow("a long property")
@pytest.mark.parametrize("mutant", MUTANTS, ids=[one.what for one in MUTANTS])
def test_it_is_found(mutant: Mutant) -> None:
    assert_caught(mutant, Group, ENDINGS)

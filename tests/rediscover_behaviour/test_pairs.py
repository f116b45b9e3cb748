"""The table names only what there is."""

from __future__ import annotations

from typing import get_args

import pytest

from barnabas.experiments.clients.verdict import Word
from barnabas.experiments.clients.workloads import find as find_workload
from barnabas.experiments.library import names
from barnabas.peers.clients.registry import find as find_client
from tests.rediscover_behaviour.pairs import PAIRS, Pair, groups
from tests.rediscover_behaviour.scoring import HARMLESS


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.source)
def test_a_pair_is_of_two_releases_and_of_what_can_be_run(pair: Pair) -> None:
    old, fixed = find_client(pair.old), find_client(pair.fixed)
    assert old.library == fixed.library
    assert old.version != fixed.version
    assert find_workload(pair.workload).name == pair.workload
    assert pair.scenario in names()
    assert pair.word in set(get_args(Word)) - {*HARMLESS, "not met", "not run"}


def test_each_fault_is_there_once_and_in_one_group() -> None:
    assert len({pair.source for pair in PAIRS}) == len(PAIRS)
    assert sorted(pair for several in groups(PAIRS).values() for pair in several) == sorted(PAIRS)

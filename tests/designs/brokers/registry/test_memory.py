"""The registry and the election in memory keep what the interface says."""

from __future__ import annotations

import pytest

from barnabas.designs.brokers.registry import Leader, MemoryElector, MemoryRegistry
from barnabas.designs.brokers.registry.interface import ABSENT, ENTRY_LIMIT


def test_an_entry_has_a_largest_size() -> None:
    registry = MemoryRegistry()
    assert registry.write("/a", bytes(ENTRY_LIMIT), ABSENT)
    with pytest.raises(ValueError, match=f"{ENTRY_LIMIT + 1} bytes for /a"):
        registry.write("/a", bytes(ENTRY_LIMIT + 1), 0)


def test_who_is_suited_better_leads_from_when_it_comes() -> None:
    elector, heard = MemoryElector(rank=lambda candidate: -candidate), []
    elector.watch(lambda: heard.append(elector.leader()))
    for candidate in (1, 3, 2):
        elector.enter(candidate)
    elector.leave(3)
    elector.enter(3)
    assert heard == [Leader(1, 1), Leader(3, 2), Leader(2, 3), Leader(3, 4)]

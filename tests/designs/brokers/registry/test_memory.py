"""A registry and an election in memory; topics in a registry: what is read and heard of changes."""

from __future__ import annotations

import pytest

from barnabas.designs.brokers.registry import Leader, MemoryElector, MemoryRegistry
from barnabas.designs.brokers.registry.interface import ABSENT, ENTRY_LIMIT
from barnabas.designs.brokers.registry.topics import Topics, path_of


def test_partitions_are_added_once_and_stay() -> None:
    registry = MemoryRegistry()
    topics = Topics(registry)
    assert topics.read() == {}
    topics.grow("t", "0-0", "0-1")
    topics.grow("a/b%2F")
    topics.grow("t", "0-1", "1-0")
    assert Topics(registry).read() == {"t": ("0-0", "0-1", "1-0"), "a/b%2F": ()}


def test_a_new_topic_and_a_new_partition_are_heard_of() -> None:
    registry, heard = MemoryRegistry(), []
    Topics(registry).grow("t", "0")
    listener = Topics(registry, lambda: heard.append(listener.read()))
    Topics(registry).grow("t", "1")
    assert heard == []  # nobody has read yet
    listener.read()
    Topics(registry).grow("t", "2")
    Topics(registry).grow("new", "0")
    Topics(registry).grow("new", "1")
    assert heard == [
        {"t": ("0", "1", "2")},
        {"t": ("0", "1", "2"), "new": ("0",)},
        {"t": ("0", "1", "2"), "new": ("0", "1")},
    ]


def test_two_that_add_at_once_both_do() -> None:
    class Busy(MemoryRegistry):
        """Somebody else writes between the first reading and the writing."""

        def write(self, path: str, data: bytes, version: int) -> bool:
            if self.read(path) is None and version == ABSENT:
                super().write(path, b'["theirs"]', ABSENT)
            return super().write(path, data, version)

    topics = Topics(Busy())
    topics.grow("t", "ours")
    assert topics.read() == {"t": ("theirs", "ours")}


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"[", b'"t"', b"\xff"])
def test_an_entry_of_something_else_is_said_with_its_place(data: bytes) -> None:
    registry = MemoryRegistry()
    registry.write(path_of("t"), data, ABSENT)
    with pytest.raises(ValueError, match=r"no partitions: .* at /brokers/topics/t"):
        Topics(registry).read()


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

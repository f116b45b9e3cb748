"""What a group has read is counted record by record, whoever read it."""

from __future__ import annotations

from barnabas.designs.central_coordination.experiments.consumers import Reading

AT = ("t", "0-0")


def read(*offsets: int) -> Reading:
    found = Reading()
    for offset in offsets:
        found.read(AT, offset)
    return found


def test_a_partition_begins_behind_at_or_ahead_of_what_was_read() -> None:
    for offset, behind, ahead in ((2, {AT}, set()), (3, set(), set()), (4, set(), {AT})):
        found = read(0, 1, 2)
        found.begin(AT, offset)
        assert (found.behind, found.ahead) == (behind, ahead)


def test_what_is_read_twice_and_what_nobody_reads() -> None:
    found = read(0, 1, 1, 4, 1)
    assert (found.twice, found.missed) == (2, 2)


def test_the_least_of_what_is_read_at_all() -> None:
    found = read(0, 1)
    assert found.least == 2
    found.read(("t", "0-1"), 0)
    assert found.least == 1
    assert Reading().least == 0

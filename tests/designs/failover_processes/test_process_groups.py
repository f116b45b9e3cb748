"""What a group on brokers that are processes has read."""

from __future__ import annotations

from barnabas.designs.failover_processes.process_groups import Read
from barnabas.designs.protocol_guide.client_0_8 import Message


def test_records_are_counted_and_those_behind_the_fault_are_seen() -> None:
    read = Read(2)
    read.take(("t", 0), 0, Message(None, b"100"))
    assert read.least() == 0
    read.take(("t", 1), 0, Message(None, b"110"))
    assert read.least() == 1
    read.since = 150
    read.take(("t", 0), 1, Message(None, b"149"))
    assert read.again == {}
    read.take(("t", 0), 0, Message(None, b"100"))
    read.take(("t", 0), 2, Message(None, b"151"))
    assert [*read.again] == [("t", 0)]
    assert [one.total() - len(one) for one in read.times.values()] == [1, 0]
    assert (("t", 0), b"151") in read.values

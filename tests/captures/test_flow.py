"""Packets that are taken many at once leave a flow as those that come one by one."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from captures.flow import UNUSUAL, Data, Flow, Plain
from captures.tcp import ACK, FIN
from captures.usual import Usual

CLIENT = ("10.0.0.1", 50000)
DATA = bytes(range(256)) * 8


def flow(patience: int, isn: int) -> Flow:
    made = Flow(1, CLIENT, patience)
    made.request.first, made.response.first = isn, (isn * 3) % 2**32
    return made


def traffic(random: Random, isn: int, count: int) -> list[Plain]:
    """Packets of both directions, nearly all in order."""
    seqs = {True: isn, False: (isn * 3) % 2**32}
    found = []
    for number in range(1, count):
        forward = random.random() < 0.7
        size = random.choice((0, 0, 5, 90, 200))
        odd = random.random()
        seq = (seqs[forward] + (7 if odd < 0.02 else 0)) % 2**32
        ack = (seqs[not forward] + random.choice((0, 0, 0, -5, 9 if odd > 0.98 else 0))) % 2**32
        flags = ACK | (FIN if 0.5 < odd < 0.51 else 0) | (UNUSUAL if 0.6 < odd < 0.61 else 0)
        at = random.randrange(1000)
        found.append(Plain(number, number * 10, at, size, seq, ack, flags, forward))
        seqs[forward] = (seqs[forward] + size) % 2**32
    return found


def one_by_one(on: Flow, packets: list[Plain]) -> tuple[int, list[Data]]:
    """How many of them bring nothing, and what the next one does."""
    for index, one in enumerate(packets):
        if one.flags & UNUSUAL:
            return index, []
        found = Usual(b"", one.seq, one.ack, one.flags, one.at, one.at + one.size)
        said = on.plain(
            "request" if one.forward else "response", found, DATA, one.ts_ns, one.packet
        )
        if said is None or said:
            return index, list(said or ())
    return len(packets), []


def state(on: Flow) -> object:
    return on.count, [
        (half.position, half.acked, half.demand.bytes, bytes(half._gathered), half._latest)
        for half in (on.request, on.response)
    ]


@given(
    seed=st.integers(0, 2**32),
    isn=st.integers(0, 2**32 - 1),
    patience=st.sampled_from([0, 1 << 20]),
    demands=st.tuples(st.integers(0, 3000), st.integers(0, 3000)),
)
def test_many_at_once_are_as_one_by_one(
    seed: int, isn: int, patience: int, demands: tuple[int, int]
) -> None:
    packets = traffic(Random(seed), isn, 60)
    at_once, single = flow(patience, isn), flow(patience, isn)
    for one in (at_once, single):
        one.request.demand.bytes, one.response.demand.bytes = demands
    index = at_once.absorb(packets, 0, memoryview(DATA), forward=True)
    for done in range(index):
        count, said = one_by_one(single, packets[done : done + 1])
        assert (count, said) == (1, [])
    assert state(at_once) == state(single)
    if index < len(packets):
        # the next one ends what was demanded, or is none that could be gathered
        count, said = one_by_one(single, packets[index : index + 1])
        assert count == 0


def test_nothing_is_taken_while_something_waits() -> None:
    packets = [Plain(1, 1, 0, 5, 0, 0, ACK, True)]
    on = flow(0, 0)
    on.request.demand.bytes = 100
    assert on.absorb(packets, 0, memoryview(DATA), forward=True) == 1
    on.response.first = None
    assert on.absorb(packets, 0, memoryview(DATA), forward=True) == 0

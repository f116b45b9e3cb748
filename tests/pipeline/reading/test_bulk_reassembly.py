"""Packets that are taken many at once leave a flow as those that come one by one."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.tcp.fast_headers import FastTcpSegment
from barnabas.captures.tcp.flow import Flow
from barnabas.captures.tcp.half import Data
from barnabas.captures.tcp.headers import ACK, FIN
from barnabas.pipeline.reading.bulk_reassembly import BulkReassembly, PacketFields
from barnabas.pipeline.reading.tcp_segments import CAREFUL, FORWARD, SEGMENT

CLIENT = ("10.0.0.1", 50000)
DATA = bytes(range(256)) * 8


def flow(wait_limit: int, isn: int) -> Flow:
    made = Flow(1, CLIENT, wait_limit)
    made.request.first, made.response.first = isn, (isn * 3) % 2**32
    return made


def traffic(random: Random, isn: int, count: int) -> list[PacketFields]:
    """Packets of both directions, nearly all in order."""
    seqs = {True: isn, False: (isn * 3) % 2**32}
    found = []
    for number in range(1, count):
        forward = random.random() < 0.7
        size = random.choice((0, 0, 5, 90, 200))
        odd = random.random()
        seq = (seqs[forward] + (7 if odd < 0.02 else 0)) % 2**32
        ack = (seqs[not forward] + random.choice((0, 0, 0, -5, 9 if odd > 0.98 else 0))) % 2**32
        flags = ACK | (FIN if 0.5 < odd < 0.51 else 0)
        kind = (FORWARD if forward else 0) | (CAREFUL if 0.6 < odd < 0.61 else 0)
        at = random.randrange(1000)
        found.append(PacketFields(number, number * 10, at, size, seq, ack, 0, flags, kind))
        seqs[forward] = (seqs[forward] + size) % 2**32
    return found


def reassembly(packets: list[PacketFields]) -> BulkReassembly:
    return BulkReassembly(np.array([tuple(one) for one in packets], SEGMENT))


def one_by_one(on: Flow, packets: list[PacketFields]) -> tuple[int, list[Data]]:
    """How many of them bring nothing, and what the next one does."""
    for index, one in enumerate(packets):
        if one.kind & CAREFUL:
            return index, []
        found = FastTcpSegment(b"", one.seq, one.ack, one.flags, one.at, one.at + one.size)
        halves = on.request, on.response
        half, other = halves if one.kind & FORWARD else halves[::-1]
        said = on.take_fast(half, other, found, memoryview(DATA), one.ts_ns, one.number)
        if said is None or said:
            return index, list(said or ())
    return len(packets), []


def state(on: Flow) -> object:
    return on.count, [
        (half.position, half.acked, half.needed.bytes, b"".join(half._gathered), half._latest)
        for half in (on.request, on.response)
    ]


@given(
    seed=st.integers(0, 2**32),
    isn=st.integers(0, 2**32 - 1),
    wait_limit=st.sampled_from([0, 1 << 20]),
    needs=st.tuples(st.integers(0, 3000), st.integers(0, 3000)),
)
def test_many_at_once_are_as_one_by_one(
    seed: int, isn: int, wait_limit: int, needs: tuple[int, int]
) -> None:
    packets = traffic(Random(seed), isn, 60)
    at_once, single = flow(wait_limit, isn), flow(wait_limit, isn)
    for one in (at_once, single):
        one.request.needed.bytes, one.response.needed.bytes = needs
    index = reassembly(packets).absorb(at_once, 0, memoryview(DATA), forward=True)
    for done in range(index):
        count, said = one_by_one(single, packets[done : done + 1])
        assert (count, said) == (1, [])
    assert state(at_once) == state(single)
    if index < len(packets):
        # the next one ends what was demanded, or is none that could be gathered
        count, said = one_by_one(single, packets[index : index + 1])
        assert count == 0


def test_nothing_is_taken_while_something_waits() -> None:
    packets = reassembly([PacketFields(1, 1, 0, 5, 0, 0, 0, ACK, FORWARD)])
    on = flow(0, 0)
    on.request.needed.bytes = 100
    assert packets.absorb(on, 0, memoryview(DATA), forward=True) == 1
    on.response.first = None
    assert packets.absorb(on, 0, memoryview(DATA), forward=True) == 0


@given(seed=st.integers(0, 2**32), isn=st.integers(0, 2**32 - 1))
def test_all_of_a_run_goes_through_in_parts(seed: int, isn: int) -> None:
    """Whoever wants more after each part, or takes a packet by itself, loses nothing."""
    random = Random(seed)
    packets = traffic(random, isn, 80)
    of = reassembly(packets)
    at_once, single = flow(1 << 20, isn), flow(1 << 20, isn)
    index = 0
    while index < len(packets):
        needs = random.choice((0, 50, 400)), random.choice((0, 50, 400))
        for one in (at_once, single):
            one.request.needed.bytes, one.response.needed.bytes = needs
        reached = of.absorb(at_once, index, memoryview(DATA), forward=True)
        for done in range(index, reached):
            assert one_by_one(single, packets[done : done + 1]) == (1, [])
        assert state(at_once) == state(single)
        found = [one_by_one(on, packets[reached : reached + 1]) for on in (at_once, single)]
        assert found[0] == found[1]
        index = reached + 1

"""Long responses that can't be read, or not to their end: no address leaves in them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from barnabas.specs.malformed import Malformed
from tests.proxy.connection.test_header_walk import in_slices
from tests.proxy.connection.test_responses import (
    FORMS,
    WHOLE,
    answer,
    asked,
    endpoints,
    exchange,
    streaming,
)
from tests.proxy.frames import Chunks, slicings


@pytest.mark.parametrize(
    "where", ["header", "count", "records", "tag", "front of the tail", "tail"]
)
@slicings
def test_what_can_not_be_read_ends_the_connection_before_the_tail(
    chunks: Chunks, where: str
) -> None:
    """Each byte is one that would move what stands behind it beyond the end of the frame."""
    frame = bytearray(answer("Fetch", 16, 1, "real-host"))
    tail = len(frame) - len(answer("Fetch", 16, 1)) + 1
    at = {
        "header": 8,
        "count": 9 + 10,
        "records": frame.index(b"r" * 200) - 2,
        "tag": frame.index(b"r" * 200) + 200,
        "front of the tail": len(frame) - tail - 1,
        "tail": len(frame) - tail,
    }[where]
    damage = b"\x7f" if where == "front of the tail" else b"\xff\xff"
    frame[at : at + len(damage)] = damage
    for warm in (False, True):
        actor = streaming()
        if warm:
            exchange(actor, 7)
        before = len(actor.sent["response"])
        actor.ask(asked("Fetch", 16, 1))
        for chunk in chunks(bytes(frame)):
            if not actor.aborted:
                actor.answer(chunk)
        assert actor.aborted
        assert b"real" not in actor.sent["response"]
        sent = actor.sent["response"][before:]
        assert frame.startswith(sent)
        assert len(sent) <= len(frame) - tail
        assert actor.stage.totals.withheld == 1
        assert "Fetch v16: node_endpoints at byte 0: addresses not found: " in actor.said[0]
        assert actor.said[0].endswith("; addresses in it can't be replaced; connection closed")
        assert ("the bytes before them can't be read" in actor.said[0]) == (where != "tail")
        actor.close()
        assert len(actor.said) == 1


def test_a_listener_that_can_not_be_had_ends_the_connection() -> None:
    def refuse(*_: Any) -> tuple[str, int]:
        raise OSError("no port is left")

    actor = streaming()
    actor.connection.state.resolve = refuse
    exchange(actor, 1, "reals")
    assert actor.aborted
    assert actor.said[0].endswith("no port is left; connection closed")
    assert b"real" not in actor.sent["response"]


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("cut", [9, 100, -3])
def test_a_response_that_is_cut_off_ends_its_direction(cut: int, warm: bool) -> None:
    actor = streaming()
    if warm:
        exchange(actor, 7)
    actor.ask(asked("Fetch", 16, 1))
    actor.answer(answer("Fetch", 16, 1, "reals")[:cut])
    actor.end("response")
    assert actor.finished == ["response"]
    actor.close()
    assert actor.counts["Fetch"] == 1 + warm


NODES = st.lists(st.sampled_from(["r1", "reals", "real-host", "real" * 40]), max_size=3)


@example([(("ShareAcknowledge", 1), ["r1"], True)], [1], 12625, 0)  # two tags more in the header
@given(
    st.lists(st.tuples(st.sampled_from(FORMS), NODES, st.booleans()), min_size=1, max_size=5),
    st.lists(st.integers(1, 300), min_size=1, max_size=4),
    st.integers(0, 2**32),
    st.sampled_from([0, WHOLE, 300, 1000]),
)
def test_whatever_comes_no_address_leaves(
    rounds: list[tuple[tuple[str, int], list[str], bool]], steps: list[int], seed: int, limit: int
) -> None:
    """Some responses are damaged: of those a client gets one without, too, or none that is whole."""
    choose = random.Random(seed)
    actor = streaming(limit)
    for number, ((name, version), hosts, broken) in enumerate(rounds, 1):
        frame = bytearray(answer(name, version, number, *hosts))
        if broken:
            frame[choose.randrange(8, len(frame))] = choose.choice((0, 1, 2, 127, 128, 255))
        before = len(actor.sent["response"])
        actor.ask(asked(name, version, number))
        for chunk in in_slices(steps)(bytes(frame)):
            if not actor.aborted:
                actor.answer(chunk)
        sent = bytes(actor.sent["response"][before:])
        if actor.aborted:
            assert broken
            assert len(sent) < len(frame)  # nobody reads a part of one
            return
        if not broken and len(frame) - 4 > limit:
            assert len(sent) == len(frame)
        try:
            found = endpoints(name, version, sent)
        except Malformed:
            assert broken
            continue
        assert all(host == "proxy" for host, port in found if host or port > 0)
        if not broken and len(frame) - 4 <= limit:
            assert len(found) == len(hosts)

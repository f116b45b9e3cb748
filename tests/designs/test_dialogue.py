from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.designs.dialogue import Dialogue, ProtocolError
from barnabas.specs.frames import Frame, encode_frame
from barnabas.specs.keys import METADATA


def reply(correlation_id: int, node: int = 1) -> bytes:
    body = {"brokers": [{"node_id": node, "host": "h", "port": 1}], "topics": []}
    return encode_frame(Frame("response", METADATA, 0, {"correlation_id": correlation_id}, body))


def asked(count: int) -> Dialogue:
    dialogue = Dialogue("me")
    for number in range(count):
        dialogue.ask(METADATA, 0, {"topics": []}, note=number)
    return dialogue


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_answers_come_in_the_order_of_requests_however_they_are_cut(size: int) -> None:
    dialogue = asked(3)
    data = b"".join(reply(number, node=number) for number in range(3))
    found = []
    for at in range(0, len(data), size):
        dialogue.feed(data[at : at + size])
        found += list(dialogue.answers())
    assert [one.question.note for one in found] == [0, 1, 2]
    assert [one.body["brokers"][0]["node_id"] for one in found] == [0, 1, 2]
    assert not dialogue.waiting


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (reply(7), "answers request 7, and 0 is the next one"),
        (reply(0) + reply(1), "answers request 1, and nothing was asked"),
        (struct.pack(">i", -1), "a frame of -1 bytes"),
        (struct.pack(">i", 2**31 - 1), "a frame of 2147483647 bytes"),
        (struct.pack(">ii", 4, 0), "a Metadata response: "),
    ],
)
def test_what_is_no_answer_is_nonsense(data: bytes, says: str) -> None:
    dialogue = asked(1)
    dialogue.feed(data)
    with pytest.raises(ProtocolError, match=says):
        list(dialogue.answers())


@given(st.lists(st.binary(max_size=40), max_size=5), st.booleans())
def test_any_bytes_give_answers_or_nonsense(chunks: list[bytes], framed: bool) -> None:
    dialogue = asked(2)
    try:
        for number, chunk in enumerate(chunks):
            head = struct.pack(">ii", len(chunk) + 4, number) if framed else b""
            dialogue.feed(head + chunk)
            list(dialogue.answers())
    except ProtocolError:
        pass

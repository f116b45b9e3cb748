from __future__ import annotations

import pytest

from barnabas.fuzz.cases.observation import REPLY_LIMIT
from barnabas.fuzz.targets.reply_reader import ReplyReader

REPLIES = [b"one!", b"", b"a third reply"]
STREAM = b"".join(len(one).to_bytes(4, "big") + one for one in REPLIES)


@pytest.mark.parametrize("step", [1, 2, 3, 5, 7, 1000])
def test_replies_are_the_same_in_whatever_pieces_they_come(step: int) -> None:
    reader = ReplyReader()
    for at in range(0, len(STREAM), step):
        reader.receive(STREAM[at : at + step])
    assert reader.replies == REPLIES
    assert not reader.midway


def test_a_negative_size_ends_what_can_be_understood() -> None:
    reader = ReplyReader()
    reader.receive(b"\xff\xff\xff\xfe" + STREAM)
    assert reader.garbled
    assert reader.replies == []


def test_a_large_reply_is_cut_and_the_next_one_is_whole() -> None:
    reader = ReplyReader()
    size = REPLY_LIMIT * 3
    reader.receive(size.to_bytes(4, "big") + b"x" * 100)
    left = size - 100
    while left:
        step = min(left, 1 << 20)
        reader.receive(b"y" * step)
        left -= step
    reader.receive(STREAM)
    assert list(map(len, reader.replies)) == [REPLY_LIMIT, *map(len, REPLIES)]

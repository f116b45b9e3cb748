"""Test the comments of a capture segment on connections that began before it."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.tcp.half import Data, Gap
from barnabas.captures.tcp.mid_stream import (
    Introduction,
    MidStream,
    first_frames,
    introduction,
    waiting,
)

FRAMES = {"request": [2, 0], "response": [1, 70]}
SEQ = {"seq": [8, 2**32 + 9]}


@pytest.mark.parametrize(
    ("said", "about", "rest"),
    [
        (SEQ, {}, {}),
        (SEQ | {"frames": FRAMES, "waiting": [[5, 3, 1]], "user": "bob"},
         {"frames": {"request": 2, "response": 1}, "waiting": [[5, 3, 1]], "user": "bob"},
         {"request": 0, "response": 70}),
        (SEQ | {"frames": {"request": [2, -1], "response": [0, 5]}, "waiting": 5, "user": 5},
         {"frames": {"response": 0}}, {"response": 5}),
        (SEQ | {"frames": [2, 0]}, {}, {}),
        (None, None, {}),
        ({"seq": [8]}, None, {}),
        ({"seq": [8, 9, 9]}, None, {}),
        ({"seq": [8, True]}, None, {}),
        ({"seq": [8, 1 << 53]}, None, {}),
        ({"seq": "89"}, None, {}),
    ],
)  # fmt: skip
def test_how_a_flow_goes_on(said: Any, about: Any, rest: Any) -> None:
    expected = None if about is None else Introduction({"connection": 3} | about, (8, 9), rest)
    assert introduction({"connection": 3, "goes_on": said}) == expected


def test_numbers_of_first_frames_and_waiting_requests_are_believed_if_they_are_some() -> None:
    assert first_frames({"frames": {"request": 2, "response": -1}}) == {"request": 2}
    assert first_frames({"frames": [2, 1]}) == {}
    assert waiting({"waiting": [[5, 3, 1], [], ["6"], 7, (8,), [9]]}) == [5, 9]
    assert waiting({"waiting": {5: 3}}) == []


def test_the_end_of_a_frame_that_began_before_is_passed_over() -> None:
    passing = MidStream()
    passing.begin(1, {"request": 5, "response": 0})
    assert set(passing) == {(1, "request")}
    answer, ask = Data(1, "response", 0, b"answer", ()), Data(1, "request", 0, b"abc", ("said",))
    assert passing.cut(answer) == answer
    assert passing.cut(ask) is None
    assert passing.cut(ask) == ask._replace(data=b"c")
    assert passing.cut(ask) == ask
    passing.begin(2, {"request": 3})
    assert passing.cut(ask._replace(flow=2)) is None
    assert not passing
    assert passing.cut(ask._replace(flow=2)) == ask._replace(flow=2)
    passing.begin(3, {"request": 3})
    gap = Gap(3, "request", 0, 1)
    assert passing.cut(gap) == gap
    assert passing.cut(ask._replace(flow=3)) == ask._replace(flow=3)

"""What is kept back of a masked capture until its frame is whole: how it is written, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from barnabas.captures.writing.flow_writer import Cut, FlowWriter
from barnabas.captures.writing.masked_flow import Hidden, MaskedFlow
from barnabas.captures.writing.masking import Masking
from barnabas.specs.frames import Direction
from tests.captures.traffic import request
from tests.costs import steps

HANDSHAKE = request(1, 36, 1, auth_bytes=b"\0me\0secret")
"""SaslAuthenticate: its token is a secret."""


class Written:
    """Takes what goes to the file."""

    behind = False

    def __init__(self) -> None:
        self.pieces: list[tuple[int, bytes, tuple[Cut, ...]]] = []
        self.kept: Any = None

    def arrived(
        self, direction: Direction, data: bytes, ts_ns: int, cuts: Sequence[Cut] = ()
    ) -> None:
        self.pieces.append((ts_ns, bytes(data), tuple(cuts)))

    def go_on(self, ts_ns: int, standing: Any) -> None:
        self.kept = standing

    def close(self, ts_ns: int, reset: bool) -> None:
        """Nothing more comes."""


def flow() -> tuple[MaskedFlow, Written]:
    written = Written()
    return MaskedFlow(cast(FlowWriter, written), Masking()), written


def trickle(made: MaskedFlow, data: bytes, of: int, begun: int = 0) -> None:
    """Bytes of a frame of this size, one by one, each with a time of its own."""
    for at in range(len(data)):
        come = begun + at + 1
        hidden = [Hidden(1, of, 0, 36, 1)] if come == of else []
        rest = 0 if come == of else come
        made.took("request", memoryview(data)[at : at + 1], at, (), hidden, rest)


def test_what_comes_behind_a_frame_is_kept_with_its_time() -> None:
    made, written = flow()
    cuts = [(len(HANDSHAKE), {"frame": 0})]
    data = HANDSHAKE + HANDSHAKE[:7]
    hidden = [Hidden(len(HANDSHAKE), len(HANDSHAKE), 0, 36, 1)]
    made.took("request", memoryview(data), 5, cuts, hidden, 7)
    ((ts, shown, said),) = written.pieces
    assert (ts, len(shown), said) == (5, len(HANDSHAKE), tuple(cuts))
    made.go_on(6, lambda kept: {"request": kept["request"], "response": kept["response"]})
    assert written.kept == {"request": 7, "response": 0}
    trickle(made, HANDSHAKE[7:], len(HANDSHAKE), 7)
    assert [(ts, data) for ts, data, _ in written.pieces[1:3]] == [
        (5, HANDSHAKE[:7]),
        (0, HANDSHAKE[7:8]),
    ]
    assert b"secret" not in b"".join(data for _, data, _ in written.pieces)


def test_many_small_pieces_cost_as_much_as_they_are() -> None:
    def work(count: int) -> int:
        made, _ = flow()
        return steps(lambda: trickle(made, b"x" * count, 10**9))

    few, many = work(500), work(2_000)
    assert many < 5 * few

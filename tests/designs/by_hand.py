"""A frame written by hand: hexadecimal with comments, and what should be read from it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from barnabas.specs.dialect_frames import DialectFrame, decode_frame, encode_frame
from barnabas.specs.dialects import Dialect
from barnabas.specs.frames import Direction


class ByHand(NamedTuple):
    """`response` names the response, if the API has several; in `text` a # begins a comment."""

    api: str
    direction: Direction
    header: dict[str, Any]
    body: dict[str, Any]
    response: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.api}-{self.direction}"

    @property
    def data(self) -> bytes:
        """The frame with its size."""
        return bytes.fromhex(re.sub("#.*", "", self.text))

    def decoded_by(self, draft: Dialect, data: bytes) -> DialectFrame:
        """What these bytes, without a size, are as such a frame."""
        asked = self.api if self.direction == "response" else None
        return decode_frame(draft, data, self.direction, api=asked, response=self.response)


def agrees(draft: Dialect, by_hand: ByHand) -> None:
    """Asserts that the frame is read and written as the hand did."""
    data = by_hand.data
    assert int.from_bytes(data[:4], "big") == len(data) - 4
    frame = DialectFrame(
        by_hand.direction, by_hand.api, by_hand.header, by_hand.body, by_hand.response
    )
    assert by_hand.decoded_by(draft, data[4:]) == frame
    assert encode_frame(draft, frame) == data

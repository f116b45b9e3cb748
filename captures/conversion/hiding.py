"""What is overwritten in a capture: secrets, payload, and in captures of others what can't be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from barnabas.captures.conversion.spans import DROPPED, KEPT, MASKED, NOBODYS
from barnabas.captures.kafka.exchange import HEADLESS
from barnabas.captures.kafka.framing.stream_framing import head_of
from barnabas.captures.kafka.pairing.captured_requests import reach_of_head
from barnabas.captures.writing.masking import SHOWN, UNSOLICITED, Masked, Masking
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import without_reason

SIZE = 4
"""Bytes of a frame that is not whole: its size."""


_REASONS: Final = ("undecodable", "what", "withheld")
"""What may say in a comment why bytes can't be read."""


def _told(value: Any) -> Any:
    if isinstance(value, list):
        return [_told(one) for one in value]
    return without_reason(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Hiding:
    """What `masking` hides, and in captures of others everything that might hold it."""

    masking: Masking
    clean: bool = False
    """Whether the capture says that this was overwritten when it was written: what can't be read now
    could be read then."""
    kinds: Sequence[tuple[int, int]] = ()
    """The (key, version) that verdicts from `MASKED` on stand for."""

    def judged(self, frame: bytes, direction: Direction, verdict: int) -> Masked:
        """A whole frame, its size in front, as the verdict on it says."""
        if verdict in (KEPT, DROPPED):
            return Masked(frame, {})
        if verdict == NOBODYS:
            return self.nobodys(frame, direction)
        return self.frame(frame, direction, *self.kinds[verdict - MASKED])

    def frame(self, frame: bytes, direction: Direction, key: int, version: int) -> Masked:
        """A whole frame, its size in front; `key` may be one of those in `captures.writing.masking`."""
        if key != UNSOLICITED:
            return self.masking.frame(frame, direction, key, version)
        return Masked(self.rest(frame, SHOWN), {})

    def nobodys(self, frame: bytes, direction: Direction) -> Masked:
        """A whole frame that belongs to no exchange."""
        key, version = UNSOLICITED, -1
        if direction == "request" and (head := head_of(frame[4:])) is not None:
            key, version = head.key, head.version
        return self.frame(frame, direction, key, version)

    def partial(self, begun: bytes, direction: Direction, key: int) -> bytes:
        """Hide all but the header of a frame of which the end is missing, its size in front."""
        shown = SIZE
        if key not in HEADLESS:
            shown = SHOWN if direction == "response" else SIZE + _head(begun[SIZE:])
        return self.rest(begun, shown)

    def comment(self, comment: dict[str, Any]) -> dict[str, Any]:
        """What a capture says of a frame; with payload hidden, not what bytes are that can't be read."""
        if self.masking.key is None:
            return comment
        return {key: _told(value) if key in _REASONS else value for key, value in comment.items()}

    def rest(self, data: bytes, shown: int = 0) -> bytes:
        """What can't be read, but for the first bytes."""
        return data if self.clean else data[:shown] + b"*" * (len(data) - shown)


def _head(begun: bytes) -> int:
    """Count the bytes of a request's head."""
    head = head_of(begun)
    return 0 if head is None else reach_of_head(begun, head) or 0

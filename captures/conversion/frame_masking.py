"""Overwrite secrets, payload, and in captures of other tools undecodable bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from barnabas.captures.conversion.spans import DROPPED, MASKED, NO_EXCHANGE, UNCHANGED
from barnabas.captures.kafka.exchange import HEADLESS
from barnabas.captures.kafka.framing.stream_framing import head_of
from barnabas.captures.kafka.pairing.captured_requests import reach_of_head
from barnabas.captures.writing.masking import SHOWN, UNSOLICITED, Masked, Masking
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import without_reason

SIZE = 4
"""Bytes of an incomplete frame that are shown: its size."""


_REASONS: Final = ("undecodable", "what", "withheld")
"""The fields of a comment that may describe undecodable bytes."""


def _without_reasons(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_reasons(item) for item in value]
    return without_reason(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class FrameMasking:
    """A policy for overwriting a capture's frames, based on `masking`.

    In captures of other tools, everything that may hold secrets is overwritten, too.
    """

    masking: Masking
    clean: bool = False
    """Whether the capture was masked when it was written: then undecodable bytes were checked at that
    time."""
    kinds: Sequence[tuple[int, int]] = ()
    """The (key, version) of verdicts from `MASKED` on."""

    def by_verdict(self, frame: bytes, direction: Direction, verdict: int) -> Masked:
        """Mask a whole frame with its size, according to its verdict."""
        if verdict in (UNCHANGED, DROPPED):
            return Masked(frame, {})
        if verdict == NO_EXCHANGE:
            return self.without_exchange(frame, direction)
        return self.frame(frame, direction, *self.kinds[verdict - MASKED])

    def frame(self, frame: bytes, direction: Direction, key: int, version: int) -> Masked:
        """Mask a whole frame with its size; `key` may be a stand-in of `captures.writing.masking`."""
        if key != UNSOLICITED:
            return self.masking.frame(frame, direction, key, version)
        return Masked(self.rest(frame, SHOWN), {})

    def without_exchange(self, frame: bytes, direction: Direction) -> Masked:
        """Mask a whole frame that belongs to no exchange."""
        key, version = UNSOLICITED, -1
        if direction == "request" and (head := head_of(frame[4:])) is not None:
            key, version = head.key, head.version
        return self.frame(frame, direction, key, version)

    def partial(self, begun: bytes, direction: Direction, key: int) -> bytes:
        """Mask a frame whose end is missing, except its size and header."""
        shown_bytes = SIZE
        if key not in HEADLESS:
            shown_bytes = SHOWN if direction == "response" else SIZE + _head(begun[SIZE:])
        return self.rest(begun, shown_bytes)

    def comment(self, comment: dict[str, Any]) -> dict[str, Any]:
        """Return a comment on a frame; if payload is hidden, without descriptions of undecodable bytes."""
        if self.masking.key is None:
            return comment
        return {
            key: _without_reasons(value) if key in _REASONS else value
            for key, value in comment.items()
        }

    def rest(self, data: bytes, shown_bytes: int = 0) -> bytes:
        """Overwrite undecodable bytes, except the first ones."""
        return data if self.clean else data[:shown_bytes] + b"*" * (len(data) - shown_bytes)


def _head(begun: bytes) -> int:
    """Return the bytes of a request's head."""
    head = head_of(begun)
    return 0 if head is None else reach_of_head(begun, head) or 0

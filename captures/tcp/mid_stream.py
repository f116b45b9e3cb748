"""Resume a connection that began in a segment of the capture that is unavailable.

The comment that introduces a flow in a later segment has `goes_on`. Its `seq` are the next sequence numbers
of both ends. An arrived flow may also have `frames`, by direction: [number, bytes]: the frame of that number
begins after so many more bytes, which end an earlier frame; `waiting`: [correlation id, key, version] of
requests in flight; and `user`: the authenticated user. `barnabas.proxy.connection.snapshot` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from barnabas.captures.tcp.half import MODULUS, Data, Gap
from barnabas.specs.frames import DIRECTIONS, Direction

_MOST: Final = 1 << 53


class Introduction(NamedTuple):
    """The state of a flow where a segment of the capture begins."""

    comment: dict[str, Any]
    """The comment on the flow itself, with `frames` (numbers of the first frames, by direction), `waiting`
    and `user` if they are known."""
    seq: tuple[int, int]
    rest: dict[Direction, int]
    """Bytes of an earlier frame that are still to come; a direction is left out if it is unknown."""


def introduction(comment: Mapping[str, Any]) -> Introduction | None:
    """Parse how a flow goes on from its comment; None if the comment is unusable.

    >>> goes_on = {"seq": [8, 9], "frames": {"request": [2, 0], "response": [1, 70]}}
    >>> introduction({"connection": 3, "goes_on": goes_on})[0]
    {'connection': 3, 'frames': {'request': 2, 'response': 1}}
    """
    resumption = comment.get("goes_on")
    if not isinstance(resumption, dict) or not _numbers(resumption.get("seq"), 2):
        return None
    fields = {key: value for key, value in comment.items() if key != "goes_on"}
    frames = resumption.get("frames")
    first_frames = {
        direction: frames[direction]
        for direction in DIRECTIONS
        if isinstance(frames, dict) and _numbers(frames.get(direction), 2)
    }
    if first_frames:
        fields["frames"] = {direction: number for direction, (number, _) in first_frames.items()}
    if isinstance(resumption.get("waiting"), list):
        fields["waiting"] = resumption["waiting"]
    if isinstance(resumption.get("user"), str):
        fields["user"] = resumption["user"]
    first, second = resumption["seq"]
    rest = {direction: size for direction, (_, size) in first_frames.items()}
    return Introduction(fields, (first % MODULUS, second % MODULUS), rest)


def first_frames(comment: Mapping[str, Any]) -> dict[Direction, int]:
    """Return the numbers of a connection's first frames, where they are not 0."""
    numbers = comment.get("frames")
    if not isinstance(numbers, dict):
        return {}
    return {
        direction: numbers[direction]
        for direction in DIRECTIONS
        if _numbers([numbers.get(direction)], 1)
    }


def waiting(comment: Mapping[str, Any]) -> list[int]:
    """Return the correlation ids of the requests in flight when the capture segment began, in order."""
    requests = comment.get("waiting")
    return [each[0] for each in requests if _pending(each)] if isinstance(requests, list) else []


class MidStream(dict[tuple[int, Direction], int]):
    """Bytes to skip, by flow and direction: ends of frames that began in an unavailable capture segment."""

    def begin(self, flow: int, rest: Mapping[Direction, int]) -> None:
        """Note the bytes to skip of a resumed flow."""
        self.update({(flow, direction): size for direction, size in rest.items() if size})

    def cut(self, event: Data | Gap) -> Data | Gap | None:
        """Return an event without the bytes to skip; None if nothing remains."""
        key = event.flow, event.direction
        rest = self.pop(key, 0)
        if not rest or isinstance(event, Gap):
            return event
        taken = min(rest, len(event.data))
        if taken < rest:
            self[key] = rest - taken
        if taken == len(event.data):
            return None  # its comments belong to the skipped frame
        return event._replace(data=event.data[taken:])


def _numbers(value: Any, count: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == count
        and all(type(each) is int and 0 <= each < _MOST for each in value)
    )


def _pending(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and type(value[0]) is int

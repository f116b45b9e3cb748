"""A connection that began in a segment of the capture that is not given: what the next one says of it.

`goes_on` in the comment of a flow has `seq`: the sequence numbers with which it goes on, of both ends.
The arrived flow may have `frames`, by direction: [number, bytes]: the frame of that number begins behind so
many bytes more, and those end one that began before; `waiting`: [correlation id, key, version] of requests
that wait for their responses; and `user`: who is authenticated. See `barnabas.proxy.connection.snapshot`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from barnabas.captures.tcp.half import MODULUS, Data, Gap
from barnabas.specs.frames import DIRECTIONS, Direction

_MOST: Final = 1 << 53


class Introduction(NamedTuple):
    """A flow as it goes on."""

    comment: dict[str, Any]
    """What is said of the flow itself, and `frames` (numbers of the first frames, by direction), `waiting`
    and `user` if they are known."""
    seq: tuple[int, int]
    rest: dict[Direction, int]
    """Bytes that end a frame which began before; a direction that is not in it is not known."""


def introduction(comment: Mapping[str, Any]) -> Introduction | None:
    """What a flow's comment says of how it goes on; None if that is nothing that one can use.

    >>> said = {"seq": [8, 9], "frames": {"request": [2, 0], "response": [1, 70]}}
    >>> introduction({"connection": 3, "goes_on": said})[0]
    {'connection': 3, 'frames': {'request': 2, 'response': 1}}
    """
    said = comment.get("goes_on")
    if not isinstance(said, dict) or not _numbers(said.get("seq"), 2):
        return None
    about = {key: value for key, value in comment.items() if key != "goes_on"}
    frames = said.get("frames")
    known = {
        way: frames[way]
        for way in DIRECTIONS
        if isinstance(frames, dict) and _numbers(frames.get(way), 2)
    }
    if known:
        about["frames"] = {way: number for way, (number, _) in known.items()}
    if isinstance(said.get("waiting"), list):
        about["waiting"] = said["waiting"]
    if isinstance(said.get("user"), str):
        about["user"] = said["user"]
    first, second = said["seq"]
    rest = {way: size for way, (_, size) in known.items()}
    return Introduction(about, (first % MODULUS, second % MODULUS), rest)


def first_frames(comment: Mapping[str, Any]) -> dict[Direction, int]:
    """The numbers of the first frames of a connection, where they are not 0."""
    said = comment.get("frames")
    if not isinstance(said, dict):
        return {}
    return {way: said[way] for way in DIRECTIONS if _numbers([said.get(way)], 1)}


def waiting(comment: Mapping[str, Any]) -> list[int]:
    """The correlation ids of requests that waited when the segment of the capture began, in their order."""
    said = comment.get("waiting")
    return [each[0] for each in said if _pending(each)] if isinstance(said, list) else []


class MidStream(dict[tuple[int, Direction], int]):
    """Passes over the ends of frames that began in a segment of the capture which is not here: so many bytes
    of each flow and direction."""

    def begin(self, flow: int, rest: Mapping[Direction, int]) -> None:
        """A flow goes on."""
        self.update({(flow, way): size for way, size in rest.items() if size})

    def cut(self, event: Data | Gap) -> Data | Gap | None:
        """What remains of an event."""
        place = event.flow, event.direction
        rest = self.pop(place, 0)
        if not rest or isinstance(event, Gap):
            return event
        taken = min(rest, len(event.data))
        if taken < rest:
            self[place] = rest - taken
        if taken == len(event.data):
            return None  # its comments are on a frame that began before
        return event._replace(data=event.data[taken:])


def _numbers(said: Any, count: int) -> bool:
    return (
        isinstance(said, list)
        and len(said) == count
        and all(type(each) is int and 0 <= each < _MOST for each in said)
    )


def _pending(said: Any) -> bool:
    return isinstance(said, list) and len(said) > 0 and type(said[0]) is int

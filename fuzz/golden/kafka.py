"""How Kafka's own classes read golden frames: each by the newest release that has its version."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.golden.frames import GoldenFrame
from barnabas.fuzz.golden.record_sets import RecordSet
from barnabas.peers.apache.client import JavaClient, JavaError

RELEASES: Final = ("4.4.0", "4.0.2", "3.9.1")
"""Releases of kafka-clients that together have classes for each declared version, the newest first."""
_BATCH: Final = 100
"""Frames of one request to the process."""


class Reading(NamedTuple):
    """A release's reading of bytes.

    Attributes:
        release: The version of kafka-clients.
        exception: The class of the exception with which it refuses them; "" if it reads them.
        message: The message of the exception.
        remaining: Bytes of a frame that it leaves unread, as a broker ignores them.
        same: Whether what it has read encodes as the same bytes.
        records: The number of records that it has read; None for a frame.
    """

    release: str
    exception: str = ""
    message: str = ""
    remaining: int = 0
    same: bool = False
    records: int | None = None


def read_frames(
    frames: Sequence[GoldenFrame],
    done: Callable[[int], None],
    releases: Sequence[str] = RELEASES,
) -> dict[str, Reading]:
    """Return how Kafka reads frames, by their names.

    Args:
        frames: The frames.
        done: Is called with the number of frames of each step.
        releases: The releases to ask, the newest first.

    Raises:
        UnavailableError: Java or a release is missing.
        CannotRun: A process ended.
    """
    readings: dict[str, Reading] = {}
    for release in releases:
        waiting = [frame for frame in frames if frame.name not in readings]
        if waiting:
            readings.update(_read_by(release, waiting, done))
    return readings


def _read_by(
    release: str, frames: Sequence[GoldenFrame], done: Callable[[int], None]
) -> Iterator[tuple[str, Reading]]:
    try:
        with JavaClient(release, {}) as java:
            versions = java.decodes()
            known = [frame for frame in frames if _has(versions, frame)]
            for start in range(0, len(known), _BATCH):
                some = known[start : start + _BATCH]
                results = java.decode([(f.key, f.version, f.direction, f.frame) for f in some])
                for frame, result in zip(some, results, strict=True):
                    exception, _, message = result.refused.partition(": ")
                    same = result.wrote == frame.frame
                    yield frame.name, Reading(release, exception, message, result.remaining, same)
                done(len(some))
    except JavaError as problem:
        raise CannotRun(f"kafka-clients {release}: {problem}") from None


def _has(versions: dict[int, tuple[int, int]], frame: GoldenFrame) -> bool:
    oldest, newest = versions.get(frame.key, (1, 0))
    return oldest <= frame.version <= newest


def read_sets(sets: Sequence[RecordSet], release: str = RELEASES[0]) -> dict[str, Reading]:
    """Return how a release reads record sets, by their cases.

    Raises:
        UnavailableError: Java or the release is missing.
        CannotRun: The process ended.
    """
    try:
        with JavaClient(release, {}) as java:
            results = java.read_sets([each.data for each in sets])
    except JavaError as problem:
        raise CannotRun(f"kafka-clients {release}: {problem}") from None
    readings = {}
    for each, (count, refused) in zip(sets, results, strict=True):
        exception, _, message = refused.partition(": ")
        readings[each.case] = Reading(release, exception, message, records=count)
    return readings

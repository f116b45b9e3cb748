"""The golden corpus: frames of messages and record sets, made from a seed, with how Kafka reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.fuzz.golden.frames import GoldenFrame, malformed_frames, valid_frames
from barnabas.fuzz.golden.kafka import RELEASES, Reading, read_frames, read_sets
from barnabas.fuzz.golden.record_sets import RecordSet, malformed_record_sets, record_sets
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.registry import REGISTRY, api

SHORT: Final = 400
"""Bytes of a record set that may be in a frame."""
_BASE: Final = "full"
"""The case that malformed frames are made of."""

Progress = Callable[[int], None]
"""Is called with the number of frames of each step."""


@dataclass(slots=True)
class GoldenCorpus:
    """Frames and record sets, and how Kafka's classes read them.

    Attributes:
        seed: All chance depends on it.
        versions: The versions of each API, by its key.
        frames: The frames, valid and malformed.
        sets: The record sets, valid and malformed.
        readings: How Kafka reads a frame, by its name; empty if it was not asked.
        set_readings: How Kafka reads a record set, by its case.
    """

    seed: int
    versions: Mapping[int, range]
    frames: list[GoldenFrame] = field(default_factory=list)
    sets: list[RecordSet] = field(default_factory=list)
    readings: Mapping[str, Reading] = field(default_factory=dict)
    set_readings: Mapping[str, Reading] = field(default_factory=dict)

    def ask_kafka(self, done: Progress) -> None:
        """Have Kafka's classes read all frames and sets. Raises UnavailableError and CannotRun."""
        self.readings = read_frames(self.frames, done)
        self.set_readings = read_sets(self.sets)

    @property
    def disputed(self) -> list[str]:
        """Return the names of valid frames and sets that Kafka's classes read otherwise."""
        frames = [
            frame.name
            for frame in self.frames
            if frame.values is not None
            and (reading := self.readings.get(frame.name)) is not None
            and not (reading.same and reading.remaining == 0)
        ]
        return frames + [
            each.case
            for each in self.sets
            if each.batches is not None
            and (reading := self.set_readings.get(each.case)) is not None
            and reading.records != sum(len(batch["records"]) for batch in each.batches)
        ]

    @property
    def manifest(self) -> dict[str, Any]:
        """Return the contents of the corpus in JSON."""
        valid = [frame for frame in self.frames if frame.values is not None]
        return {
            "seed": self.seed,
            "apis": {
                api(key).name: {"key": key, "versions": [versions[0], versions[-1]]}
                for key, versions in self.versions.items()
            },
            "frames": len(valid),
            "malformedFrames": len(self.frames) - len(valid),
            "recordSets": sum(each.batches is not None for each in self.sets),
            "malformedRecordSets": sum(each.batches is None for each in self.sets),
            "kafkaClients": list(RELEASES) if self.readings else [],
            "verifiedFrames": sum(frame.name in self.readings for frame in valid),
        }


def all_versions() -> dict[int, range]:
    """Return the declared versions of each API, by its key."""
    spans = {key: api(key).versions for key, _, _ in REGISTRY}
    return {key: range(oldest, newest + 1) for key, (oldest, newest) in spans.items()}


def golden_corpus(seed: int, versions: Mapping[int, range], done: Progress) -> GoldenCorpus:
    """Return the corpus of these versions; Kafka is not asked yet."""
    corpus = GoldenCorpus(seed, versions)
    valid_sets = record_sets()
    corpus.sets = [*valid_sets, *_malformed_sets(valid_sets, seed)]
    contents = [each.data for each in valid_sets if each.data[16] == 2 and len(each.data) < SHORT]
    for key, of_api in versions.items():
        for version in of_api:
            for direction in DIRECTIONS:
                frames = list(valid_frames(key, version, direction, str(seed), contents))
                full = next(frame for frame in frames if frame.case == _BASE)
                corpus.frames += [*frames, *malformed_frames(full, str(seed))]
            done(1)
    return corpus


def _malformed_sets(valid: Sequence[RecordSet], seed: int) -> Iterator[RecordSet]:
    for each in valid:
        yield from malformed_record_sets(each, str(seed))

"""The committed offsets in a broker's files of __consumer_offsets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.specs import records
from barnabas.specs.embedded import read_topic_record

TOPIC: Final = "__consumer_offsets"


class LoggedOffset(NamedTuple):
    """A committed offset in the log. at: seconds since 1970, by the broker."""

    at: float
    partition: int
    offset: int
    mark: str


def segments(broker: Path) -> list[Path]:
    """Return a broker's files of __consumer_offsets. broker: its directory."""
    return sorted((broker / "data").glob(f"{TOPIC}-*/*.log"))


def read(files: Iterable[Path]) -> dict[str, list[LoggedOffset]]:
    """Return the committed offsets by group, in the order of the log. Raises specs.Malformed."""
    offsets = defaultdict(list)
    for file in files:
        for batch in records.read(file.read_bytes()):
            for record in batch:
                if record.key is None or record.key[:2] != b"\0\1" or record.value is None:
                    continue  # of another type than OffsetCommit, or a removed offset
                key, value = read_topic_record(TOPIC, record.key, record.value)
                assert key is not None and value is not None  # noqa: S101, PT018
                logged = LoggedOffset(
                    value.values["commit_timestamp"] / 1000,
                    key.values["partition"],
                    value.values["offset"],
                    value.values["metadata"],
                )
                offsets[key.values["group"]].append(logged)
    return dict(offsets)

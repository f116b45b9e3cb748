"""The sources of messages that a campaign starts from: generated ones, captures, and files of frames."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import body_version
from barnabas.captures.reader import CaptureReader
from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.generators.messages import message, with_header
from barnabas.fuzz.generators.values import SHAPES
from barnabas.specs.frames import Direction
from barnabas.specs.registry import NAMES, api

EACH: Final = 4
"""The default number of generated messages of one version."""

Offered = Mapping[int, tuple[int, int]]
"""API key -> oldest and newest version, both included."""


def generated(seed: str, offered: Offered, direction: Direction, each: int = EACH) -> list[Seed]:
    """Return generated messages: `each` of every version of every API, of alternating shapes.

    Raises LookupError for an unknown API or version.

    >>> [found.origin for found in generated("s", {3: (0, 1)}, "request", each=1)]
    ['generated:Metadata-0-request-0', 'generated:Metadata-1-request-0']
    """
    return [
        message(
            key,
            version,
            direction,
            SeededRandom(f"{seed} {direction} {key} {version}", number),
            f"generated:{api(key).name}-{version}-{direction}-{number}",
            SHAPES[number % len(SHAPES)],
        )
        for key, (low, high) in sorted(offered.items())
        for version in range(low, high + 1)
        for number in range(each)
    ]


def captured(path: Path, direction: Direction) -> Iterator[Seed]:
    """Yield the messages of a capture, or of a folder of them, each once, with new headers.

    Raises OSError and barnabas.captures.files.pcapng.CaptureError as CaptureReader does.
    """
    messages: set[tuple[int, int, bytes]] = set()
    for number, exchange in enumerate(Conversations().exchanges(CaptureReader(path))):
        key, version = exchange.key, exchange.version
        body = exchange.request_body if direction == "request" else exchange.response_body
        if body is None or not _declared(key, version):
            continue
        version = body_version(key, version, direction, body)
        if (key, version, body) in messages:
            continue
        messages.add((key, version, body))
        yield with_header(
            key, version, direction, body, f"capture:{path.name}#{number}-{direction}"
        )


def listed(path: Path, direction: Direction) -> Iterator[Seed]:
    """Yield the messages of a file of frames. Raises OSError, CannotRun.

    A line is JSON with api, key, version, direction, case and `hex`, the body. The file is gzipped if its
    name ends so.
    """
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                if entry["direction"] != direction:
                    continue
                key, version, body = entry["key"], entry["version"], bytes.fromhex(entry["hex"])
                origin = f"golden:{entry['api']}-{version}-{direction}-{entry.get('case', number)}"
            except (ValueError, KeyError, TypeError) as problem:
                raise CannotRun(f"{path}, line {number}: not a frame: {problem!r}") from None
            if _declared(key, version):
                yield with_header(key, version, direction, body, origin)


def _declared(key: int, version: int) -> bool:
    """Return whether there is a layout of a version."""
    if key not in NAMES:
        return False
    low, high = api(key).versions
    return low <= version <= high

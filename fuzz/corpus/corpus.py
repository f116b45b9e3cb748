"""The messages that a campaign starts from: generated ones, and those of captures and of files of frames."""

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
"""Generated messages of one version, unless something else is asked for."""

Offered = Mapping[int, tuple[int, int]]
"""API key -> oldest and newest version, both included."""


def generated(seed: str, offered: Offered, direction: Direction, each: int = EACH) -> list[Seed]:
    """Fresh messages: so many of each version of each API, of each shape in turn. Raises LookupError for what
    there is not.

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
    """Return the messages of a capture, or of a folder of them, equal ones once, with headers made anew.

    Raises OSError and barnabas.captures.files.pcapng.CaptureError as CaptureReader does.
    """
    seen: set[tuple[int, int, bytes]] = set()
    for number, exchange in enumerate(Conversations().exchanges(CaptureReader(path))):
        key, version = exchange.key, exchange.version
        body = exchange.request_body if direction == "request" else exchange.response_body
        if body is None or not _declared(key, version):
            continue
        version = body_version(key, version, direction, body)
        if (key, version, body) in seen:
            continue
        seen.add((key, version, body))
        yield with_header(
            key, version, direction, body, f"capture:{path.name}#{number}-{direction}"
        )


def listed(path: Path, direction: Direction) -> Iterator[Seed]:
    """Return the messages of a file of frames: a line of JSON each with api, key, version, direction, case
    and `hex`, the body; gzip, if its name ends so. Raises OSError, CannotRun."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for number, line in enumerate(lines, 1):
            try:
                found = json.loads(line)
                if found["direction"] != direction:
                    continue
                key, version, body = found["key"], found["version"], bytes.fromhex(found["hex"])
                origin = f"golden:{found['api']}-{version}-{direction}-{found.get('case', number)}"
            except (ValueError, KeyError, TypeError) as problem:
                raise CannotRun(f"{path}, line {number}: not a frame: {problem!r}") from None
            if _declared(key, version):
                yield with_header(key, version, direction, body, origin)


def _declared(key: int, version: int) -> bool:
    """Return whether there is a layout of a message."""
    if key not in NAMES:
        return False
    low, high = api(key).versions
    return low <= version <= high

"""What a case reached: the shape of a response, the error codes in it, the templates of log lines.

Two observations with equal features are alike: numbers, names and bytes are left out, what remains is
which branch of the other side answered. A feature is a line of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from barnabas.fuzz.cases.observation import REACHED, Observation
from barnabas.fuzz.observations.exchanges import REMEMBERED
from barnabas.specs.frames import decode_frame
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES

TEMPLATE: Final = 160
"""Characters of a log line that are kept."""

LOOKED_AT: Final = 1 << 10
"""And before what differs is taken out: names in a log may be of 32 KiB."""

DEPTH: Final = 6
"""Levels of a response that its shape has."""

_VARIABLE: Final = re.compile(
    r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}"  # what is quoted or in brackets
    r"|/[\w.:-]+|(?<![\w-])(?=[\w-]*\d)[\w-]+"  # addresses; whatever has a digit
)
_RUN: Final = re.compile(r"…(?:[^\w\s]*…)+")
_SPACES: Final = re.compile(r"\s+")


def features(observation: Observation) -> frozenset[str]:
    """What an observation shows, for feedback. Pure."""
    return frozenset(_features(observation))


def _features(observation: Observation) -> Iterator[str]:
    seed = observation.case.recipe.seed
    name = NAMES.get(seed.key, str(seed.key))
    if observation.ending != "open":
        yield f"{name}: {observation.ending}"
    if seed.direction == "request":
        for reply in observation.replies:
            yield from (
                f"{name} v{seed.version}: {one}" for one in _reply(reply, seed.key, seed.version)
            )
    facts: dict[str, Any] = dict(observation.facts)
    yield from facts.get(REACHED, ())
    for key, _ in facts.get("later", ()):  # what a client asks after a case says how it took it
        yield f"{name}: then {NAMES.get(key, key)}"
    for line in observation.log:
        yield f"log: {template(line)}"
    if observation.raised:
        yield f"raised: {template(observation.raised)}"
    if observation.death is not None:
        yield f"died: {observation.death.exit_code}"


def template(entry: str) -> str:
    """The first line of a log entry without what differs from time to time.

    >>> template("[2024-01-02 10:00:00,123] ERROR Closing socket for 127.0.0.1:9092-127.0.0.1:40000-7")
    '… ERROR Closing socket for …'
    """
    line = entry.lstrip()[:LOOKED_AT].partition("\n")[0]
    while (shorter := _VARIABLE.sub("…", line)) != line:
        line = shorter
    return _SPACES.sub(" ", _RUN.sub("…", line)).strip()[:TEMPLATE]


def _reply(reply: bytes, key: int, version: int) -> tuple[str, ...]:
    """What a response shows, whatever its correlation id."""
    if not 4 <= len(reply) <= REMEMBERED:
        return _shown.__wrapped__(reply, key, version)
    return _shown(bytes(4) + reply[4:], key, version)


@lru_cache(maxsize=1024)
def _shown(reply: bytes, key: int, version: int) -> tuple[str, ...]:
    try:
        body = decode_frame(reply, "response", key=key, version=version).body
    except (Malformed, LookupError):
        return ("undecodable",)
    parts: set[str] = set()
    codes: set[str] = set()
    _walk(body, "", parts, codes, DEPTH)
    return (f"shape {' '.join(sorted(parts))}", *(f"error {code}" for code in sorted(codes)))


def _walk(value: Any, path: str, parts: set[str], codes: set[str], depth: int) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            where = f"{path}.{name}" if path else str(name)
            if name == "error_code":
                codes.add(f"{where}={inner}")
            else:
                _walk(inner, where, parts, codes, depth)
    elif isinstance(value, list):
        parts.add(f"{path}[{min(len(value), 2)}]")
        if depth:
            for inner in value[:16]:
                _walk(inner, f"{path}[]", parts, codes, depth - 1)
    elif value is None:
        parts.add(f"{path}=null")

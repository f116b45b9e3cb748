"""Features of an observation: the shape of a response, its error codes, the templates of log lines.

Numbers, names and bytes are left out. What remains shows which branch of the target's code answered, so two
observations with equal features are alike. A feature is a line of text.
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
"""Characters of a log line that are read before variable parts are removed: names may have 32 KiB."""

DEPTH: Final = 6
"""Levels of a response that its shape includes."""

_VARIABLE: Final = re.compile(
    r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}"  # quoted or in brackets
    r"|/[\w.:-]+|(?<![\w-])(?=[\w-]*\d)[\w-]+"  # addresses; words with a digit
)
_RUN: Final = re.compile(r"…(?:[^\w\s]*…)+")
_SPACES: Final = re.compile(r"\s+")


def features(observation: Observation) -> frozenset[str]:
    """Return the features of an observation. Pure."""
    return frozenset(_features(observation))


def _features(observation: Observation) -> Iterator[str]:
    seed = observation.case.recipe.seed
    name = NAMES.get(seed.key, str(seed.key))
    if observation.ending != "open":
        yield f"{name}: {observation.ending}"
    if seed.direction == "request":
        for reply in observation.replies:
            yield from (
                f"{name} v{seed.version}: {feature}"
                for feature in _reply(reply, seed.key, seed.version)
            )
    facts: dict[str, Any] = dict(observation.facts)
    yield from facts.get(REACHED, ())
    for key, _ in facts.get("later", ()):  # a client's next requests show its reaction
        yield f"{name}: then {NAMES.get(key, key)}"
    for line in observation.log:
        yield f"log: {template(line)}"
    if observation.raised:
        yield f"raised: {template(observation.raised)}"
    if observation.death is not None:
        yield f"died: {observation.death.exit_code}"


def template(entry: str) -> str:
    """Return the first line of a log entry without its variable parts.

    >>> template("[2024-01-02 10:00:00,123] ERROR Closing socket for 127.0.0.1:9092-127.0.0.1:40000-7")
    '… ERROR Closing socket for …'
    """
    line = entry.lstrip()[:LOOKED_AT].partition("\n")[0]
    while (shorter := _VARIABLE.sub("…", line)) != line:
        line = shorter
    return _SPACES.sub(" ", _RUN.sub("…", line)).strip()[:TEMPLATE]


def _reply(reply: bytes, key: int, version: int) -> tuple[str, ...]:
    """Return the features of a response, without regard to its correlation id."""
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
            field_path = f"{path}.{name}" if path else str(name)
            if name == "error_code":
                codes.add(f"{field_path}={inner}")
            else:
                _walk(inner, field_path, parts, codes, depth)
    elif isinstance(value, list):
        parts.add(f"{path}[{min(len(value), 2)}]")
        if depth:
            for inner in value[:16]:
                _walk(inner, f"{path}[]", parts, codes, depth - 1)
    elif value is None:
        parts.add(f"{path}=null")

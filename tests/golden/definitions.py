"""Kafka's message definitions as the releases have them, out of definitions.json.gz."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any, Final

from tests.places import GOLDEN

with gzip.open(GOLDEN / "definitions.json.gz") as _file:
    DEFINITIONS: Final[dict[str, Any]] = json.load(_file)

ANEW: Final = (
    "make kafka-release VERSION=... writes tests/golden anew, out of the classes of that release"
)
"""What to do where a declaration and tests/golden differ."""

Versions = tuple[int, int]
"""The first and the last of a range."""

FOREVER: Final = 32767


def versions(text: str | None) -> Versions | None:
    """Versions as a definition writes them, e.g. "2-4" or "3+".

    >>> versions("2-4"), versions("7"), versions("3+"), versions("none")
    ((2, 4), (7, 7), (3, 32767), None)
    """
    if text in (None, "none"):
        return None
    first, _, last = str(text).replace("+", f"-{FOREVER}").partition("-")
    return int(first), int(last or first)


def newest(key: int, direction: str) -> Iterator[tuple[Versions, dict[str, Any]]]:
    """The versions of an API's message, with the definition of the newest release that has them."""
    found = [
        (tuple(map(int, entry["to"].split("."))), entry["def"])
        for message in DEFINITIONS["messages"].values()
        for entry in message["defs"]
        if (message["type"], message.get("apiKey")) == (direction, key)
    ]
    below = FOREVER
    for _, definition in sorted(found, key=lambda one: one[0], reverse=True):
        valid = versions(definition["validVersions"])
        if valid is not None and valid[0] < below:
            yield (valid[0], min(valid[1], below - 1)), definition
            below = valid[0]

"""The names of all settings that brokers of a release know, by KafkaConfig itself, internal ones too."""

from __future__ import annotations

import functools
from typing import Final

from barnabas.peers.apache.errors import UnavailableError
from barnabas.peers.apache.java_process import JavaError, JavaProcess
from barnabas.peers.apache.versions import release

SINCE: Final = (0, 9)
"""The first release that has such a list."""


@functools.cache
def setting_names(version: str) -> frozenset[str]:
    """Return the names; none of a release before 0.9. Raises UnavailableError, and UnknownVersionError."""
    found = release(version)
    if found.number < SINCE:
        return frozenset()
    with JavaProcess(found.coordinates) as process:
        try:
            return frozenset(process.ask({"do": "setting_names"})["names"])
        except JavaError as problem:
            why = f"Kafka {version} does not name its settings: {problem}"
            raise UnavailableError(why) from None

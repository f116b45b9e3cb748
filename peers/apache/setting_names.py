"""The names of all settings of a release's brokers, from KafkaConfig itself, internal ones included."""

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
    """Return the names of all broker settings of a release; empty before 0.9.

    Raises:
        UnknownVersionError: The version is not valid.
        UnavailableError: The release can't be downloaded, or does not list its settings.
    """
    resolved = release(version)
    if resolved.number < SINCE:
        return frozenset()
    with JavaProcess(resolved.coordinates) as process:
        try:
            return frozenset(process.ask({"do": "setting_names"})["names"])
        except JavaError as problem:
            reason = f"Kafka {version} does not list its settings: {problem}"
            raise UnavailableError(reason) from None

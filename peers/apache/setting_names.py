"""The names of all settings that brokers of a release know, by KafkaConfig itself, internal ones too.

As a module it is the process that asks: `python -m barnabas.peers.apache.setting_names JAVA CLASSES`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.errors import UnavailableError
from barnabas.peers.apache.java import java
from barnabas.peers.apache.versions import release

SINCE: Final = (0, 9)
"""The first release that has such a list."""

PATIENCE_S: Final = 120.0


@functools.cache
def setting_names(version: str) -> frozenset[str]:
    """They; none of a release before 0.9. Raises UnavailableError, and UnknownVersionError."""
    found = release(version)
    if found.number < SINCE:
        return frozenset()
    if importlib.util.find_spec("jpype") is None:
        raise UnavailableError("Kafka's classes are asked by JPype: pip install 'barnabas[apache]'")
    classes = os.pathsep.join(map(str, class_path(found.coordinates)))
    try:
        done = subprocess.run(  # noqa: S603 (a module of ours)
            [sys.executable, "-m", __name__, str(java()), classes],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as problem:
        raise UnavailableError(f"Kafka {version} does not name its settings: {problem}") from None
    return frozenset(done.stdout.split())


def main(program: str, classes: str) -> None:
    """Print them, and nothing that Java prints."""
    import jpype

    from barnabas.peers.apache.client_process import library

    names = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    jpype.startJVM(library(Path(program)), classpath=classes.split(os.pathsep), convertStrings=True)
    names.write(jpype.JClass("kafka.server.KafkaConfig").configNames().mkString("\n"))
    names.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])

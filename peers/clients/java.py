"""Java libraries of a release of Apache Kafka, through JPype in a process of this Python."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.errors import UnavailableError, UnknownVersionError
from barnabas.peers.apache.java import java, library, need_jpype
from barnabas.peers.apache.versions import LOGGER, release
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.python import program

FIRST: Final = {"kafka-streams": (3, 3)}
"""The first supported release by artifact."""


def java_program(artifact: str, name: str, version: str, *, counted: bool = False) -> Program:
    """Return the program in `programs/` of that name, with an artifact of org.apache.kafka.

    kafka-clients works since 2.0, kafka-streams since 3.3.

    Args:
        artifact: kafka-clients or kafka-streams.
        name: of the program.
        version: of Kafka.
        counted: without effect: an agent counts lines, which BARNABAS_JVM_OPTIONS names.

    Raises:
        UnavailableClientError: Java, JPype or the artifact is missing, or the release is too old.
    """
    try:
        need_jpype()
        exact = release(version).version
        first = FIRST.get(artifact, (0, 0))
        if tuple(int(part) for part in exact.split(".")[:2]) < first:
            since = ".".join(map(str, first))
            raise UnavailableClientError(
                f"{artifact} {exact} is too old: it is run from {since} on"
            )
        jars = class_path((f"org.apache.kafka:{artifact}:{exact}", LOGGER))
        jvm = java()
    except (UnavailableError, UnknownVersionError) as problem:
        raise UnavailableClientError(str(problem)) from None
    environment = {
        "BARNABAS_JVM": library(jvm),
        "CLASSPATH": os.pathsep.join(str(jar) for jar in jars),
    }
    return program(Path(sys.executable), name)._replace(environment=environment)

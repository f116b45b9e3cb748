"""The Java client of a release, through JPype in a process of this Python."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Final

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.clients.client import Client, Limits, Program
from barnabas.fuzz.targets.clients.python import program
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.errors import UnavailableError, UnknownVersionError
from barnabas.peers.apache.java import java
from barnabas.peers.apache.versions import LOGGER, release

_LIMITS: Final = Limits(hung_s=15.0, starts_s=60.0)
"""Its classes are loaded when they are first used: first sessions are slow."""


def java_client(version: str) -> Client:
    """kafka-clients of a version; it has what is used since 2.0."""

    def prepare() -> Program:
        if importlib.util.find_spec("jpype") is None:
            raise CannotRun("Java clients are driven by JPype: pip install 'barnabas[apache]'")
        try:
            exact = release(version).version
            jars = class_path((f"org.apache.kafka:kafka-clients:{exact}", LOGGER))
            jvm = java()
        except (UnavailableError, UnknownVersionError) as problem:
            raise CannotRun(str(problem)) from None
        machine = next((jvm.resolve().parents[1] / "lib" / "server").glob("libjvm.*"))
        environment = {
            "BARNABAS_JVM": str(machine),
            "CLASSPATH": os.pathsep.join(str(jar) for jar in jars),
        }
        return program(Path(sys.executable), "with_java")._replace(environment=environment)

    return Client(f"kafka-clients {version}", "java", prepare, _LIMITS)

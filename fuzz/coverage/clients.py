"""The meters of client libraries."""

from __future__ import annotations

import os
from pathlib import Path

from barnabas.fuzz.coverage.golang import GoMeter
from barnabas.fuzz.coverage.jacoco import Jacoco
from barnabas.fuzz.coverage.lines import Meter
from barnabas.fuzz.coverage.python import PythonMeter
from barnabas.peers.clients.client import Client, Program
from barnabas.peers.clients.python import COUNTED_PACKAGES


def meter(client: Client, program: Program) -> Meter:
    """Return the meter for a client that counts its lines, and its program. Raises CannotRun."""
    if jars := program.environment.get("CLASSPATH"):
        return Jacoco([Path(jar) for jar in jars.split(os.pathsep)])
    if package := COUNTED_PACKAGES.get(client.library):
        return PythonMeter(program.line[0], package)
    return GoMeter()

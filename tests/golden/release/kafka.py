"""What kafka-clients of a release says of itself: its definitions, its schemas, its frames."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.errors import UnavailableError
from barnabas.peers.apache.java import java
from barnabas.peers.apache.versions import LOGGER

JACKSON: Final = "com.fasterxml.jackson.core:jackson-databind:2.21.2"
"""What Kafka's JSON converters are written in; kafka-clients does not bring it."""

OLDEST: Final = (2, 8)
"""Since then ApiMessageType says which listeners have an API."""

Definition = dict[str, Any]
"""A message as Kafka's own file defines it, without prose."""


@dataclass(frozen=True)
class Release:
    """The classes of one release, read once."""

    version: str
    apis: list[dict[str, Any]]
    errors: list[tuple[int, str, bool]]
    definitions: dict[str, Definition]
    """Every message's definition by its name."""
    schemas: dict[str, dict[str, Any]]
    """`versions` and `defaults` of every message that has versions; see tests.golden.release.java."""


def read(version: str) -> Release:
    """Read a release's classes. Raises UnavailableError if Java or the artifact can't be had."""
    if tuple(map(int, version.split("."))) < OLDEST:
        raise UnavailableError(f"the classes of {version} do not say enough; those since 2.8.0 do")
    jars = _jars(version)
    definitions = _definitions(jars[0])
    names = [name for name, one in definitions.items() if one["validVersions"] != "none"]
    asked = [["protocol"], *(["schemas", class_of(definitions[name])] for name in names)]
    protocol, *schemas = _ask(jars, asked)
    errors = [(code, name, retriable) for code, name, retriable in protocol["errors"]]
    found = dict(zip(names, schemas, strict=True))
    return Release(version, protocol["apis"], errors, definitions, found)


def written_by_classes(version: str, asked: Sequence[tuple[str, int, Any]]) -> list[dict[str, Any]]:
    """Have messages written: (class, version, values) each; gives `hex` and `json` of each."""
    return _ask(_jars(version), [["frame", *one] for one in asked])


def class_of(definition: Definition) -> str:
    """The class that Kafka's generator makes of a definition."""
    name: str = definition["name"]
    return name if definition["type"] == "data" else f"{name}Data"


def _jars(version: str) -> tuple[Path, ...]:
    return class_path((f"org.apache.kafka:kafka-clients:{version}", LOGGER, JACKSON))


def _definitions(jar: Path) -> dict[str, Definition]:
    with zipfile.ZipFile(jar) as file:
        names = [name for name in file.namelist() if name.startswith("common/message/")]
        texts = [file.read(name).decode() for name in sorted(names) if name.endswith(".json")]
    decoder = json.JSONDecoder()  # one of 2.8 has a brace too many behind it
    read = [_without_prose(decoder.raw_decode(_without_comments(text))[0]) for text in texts]
    return {one["name"]: one for one in read}


def _without_comments(text: str) -> str:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("//"))
    return "\n".join(lines).lstrip()


def _without_prose(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_prose(inner) for key, inner in value.items() if key != "about"}
    return [_without_prose(item) for item in value] if isinstance(value, list) else value


def _ask(jars: Sequence[Path], questions: Sequence[Any]) -> list[dict[str, Any]]:
    program = [sys.executable, "-m", "tests.golden.release.java"]
    done = subprocess.run(
        [*program, str(java()), os.pathsep.join(map(str, jars))],
        input="".join(json.dumps(one) + "\n" for one in questions),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise UnavailableError(f"Kafka's classes could not be asked: {said[-1]}")
    return [json.loads(line) for line in done.stdout.splitlines()]

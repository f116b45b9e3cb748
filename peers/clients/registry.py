"""The registry: every client library, by the name that a user gives it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from barnabas.nearest import did_you_mean
from barnabas.peers.clients.client import Client, Program
from barnabas.peers.clients.errors import UnknownClientError
from barnabas.peers.clients.golang import go_program
from barnabas.peers.clients.java import java_program
from barnabas.peers.clients.node import node_program
from barnabas.peers.clients.python import python_program
from barnabas.peers.clients.rust import rust_program


class Library(NamedTuple):
    """A client library. get: returns the program of a version; with `counted`, one that counts lines."""

    name: str
    """The user's name of the library."""
    description: str
    install: str
    """The command that installs a release without barnabas, with {} for the release."""
    get: Callable[..., Program]
    counts: bool = False
    """Whether its program can count the lines of the library that it reaches."""
    sessions: bool = True
    """Whether its program has the fuzzer's sessions, in addition to the workloads."""


def _python(name: str, description: str, program: str, *, counts: bool = True) -> Library:
    get = partial(python_program, name, program)
    return Library(name, description, f"pip install {name}=={{}}", get, counts)


def _java(name: str, description: str, artifact: str, *, streams: bool = False) -> Library:
    get = partial(java_program, artifact, name.replace("-", "_"))
    install = f"Maven's org.apache.kafka:{artifact}:{{}}"
    return Library(name, description, install, get, counts=not streams, sessions=not streams)


def _go(name: str, module: str) -> Library:
    get = partial(go_program, name, module)
    return Library(name, "a release of the Go module", f"go get {module}@v{{}}", get, counts=True)


def _node(name: str, description: str, package: str) -> Library:
    get = partial(node_program, name, package)
    return Library(name, description, f"npm install {package}@{{}}", get)


JAVA: Final = "java"
LIBRARIES: Final = (
    _python("kafka-python", "a release on PyPI", "kafka_python"),
    _python("confluent-kafka", "a release on PyPI, with its librdkafka", "confluent", counts=False),
    _python("aiokafka", "a release on PyPI", "aiokafka"),
    _java(JAVA, "Apache Kafka's Java client of a release, from Maven Central", "kafka-clients"),
    _java(
        "kafka-streams",
        "Apache Kafka's Streams of a release, from Maven Central",
        "kafka-streams",
        streams=True,
    ),
    _go("franz-go", "github.com/twmb/franz-go"),
    _go("sarama", "github.com/IBM/sarama"),
    _go("kafka-go", "github.com/segmentio/kafka-go"),
    _node("kafkajs", "a release on npm", "kafkajs"),
    _node("platformatic-kafka", "a release of @platformatic/kafka on npm", "@platformatic/kafka"),
    Library(
        "rdkafka",
        "a release of the Rust crate, with its librdkafka",
        "cargo add rdkafka@{}",
        rust_program,
    ),
)

BY_NAME: Final = {library.name: library for library in LIBRARIES}
COUNTED: Final = tuple(library.name for library in LIBRARIES if library.counts)
"""Libraries whose programs can count the lines that they reach."""
WITH_SESSIONS: Final = tuple(library.name for library in LIBRARIES if library.sessions)
"""Libraries whose programs have the fuzzer's sessions."""


def find(text: str, names: Sequence[str] = tuple(BY_NAME)) -> Client:
    """Return the client of `NAME@VERSION`.

    Args:
        text: the user's name of the client.
        names: libraries to list if the name is unknown.

    Raises:
        UnknownClientError: No library has that name, or the version is missing.

    >>> find("kafka-python@2.3.1").name
    'kafka-python 2.3.1'
    """
    name, _, version = text.partition("@")
    library = BY_NAME.get(name)
    if library is not None and re.fullmatch(r"[\w.+-]+", version):
        counted = partial(library.get, version, counted=True) if library.counts else None
        return Client(name, version, partial(library.get, version), counted)
    if library is not None and not version:
        raise UnknownClientError(f"{name} needs a version: {name}@VERSION")
    hint = "" if library is not None else did_you_mean(name, names)
    listed = ", ".join(f"{library_name}@VERSION" for library_name in names)
    raise UnknownClientError(f"unknown client {text!r}{hint}; choose from {listed}")


def installed_by(text: str) -> str:
    """Return the command that installs a client without barnabas; empty for a command of the user's.

    >>> installed_by("sarama@1.46.2"), installed_by("mine {bootstrap}")
    ('go get github.com/IBM/sarama@v1.46.2', '')
    """
    name, _, version = text.partition("@")
    return BY_NAME[name].install.format(version.removeprefix("v")) if name in BY_NAME else ""

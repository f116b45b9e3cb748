"""The registry: every kind of client, by the name that a user gives it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Final

from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.targets.clients.client import Client, Program
from barnabas.fuzz.targets.clients.golang import go_client
from barnabas.fuzz.targets.clients.java import java_client
from barnabas.fuzz.targets.clients.python import python_client
from barnabas.fuzz.targets.clients.target import ClientTarget

CLIENTS: Final[tuple[tuple[str, str, Callable[[str], Client]], ...]] = (
    (
        "kafka-python",
        "a release on PyPI",
        lambda version: python_client("kafka-python", "with_kafka_python", version),
    ),
    (
        "confluent-kafka",
        "a release on PyPI, with its librdkafka",
        lambda version: python_client("confluent-kafka", "with_confluent", version),
    ),
    (
        "aiokafka",
        "a release on PyPI",
        lambda version: python_client("aiokafka", "with_aiokafka", version),
    ),
    ("java", "Apache Kafka's Java client of a release, from Maven Central", java_client),
    (
        "franz-go",
        "a release of the Go module",
        lambda version: go_client("franz-go", "github.com/twmb/franz-go", version),
    ),
    (
        "sarama",
        "a release of the Go module",
        lambda version: go_client("sarama", "github.com/IBM/sarama", version),
    ),
    (
        "kafka-go",
        "a release of the Go module",
        lambda version: go_client("kafka-go", "github.com/segmentio/kafka-go", version),
    ),
)
"""(name, what it is, what gives the client of a version)."""

COMMAND: Final = "command:"
"""What stands in front of a command line, with {bootstrap} and {topic} in it."""


def client(text: str) -> ClientTarget:
    """The target that a user names: `NAME@VERSION`, or `command:LINE`. Raises Misuse."""
    return ClientTarget(find(text))


def find(text: str) -> Client:
    """The client of a target. Raises Misuse.

    >>> find("kafka-python@2.3.1").name
    'kafka-python 2.3.1'
    >>> find("command:kcat -b {bootstrap} -t {topic} -C -e").name
    'command kcat'
    """
    if text.startswith(COMMAND):
        return _command(text.removeprefix(COMMAND))
    name, _, version = text.partition("@")
    for known, _, made in CLIENTS:
        if known == name and version:
            return made(version)
    names = ", ".join(f"{known}@VERSION" for known, _, _ in CLIENTS)
    raise Misuse(
        f"unknown client {text!r}; choose from {names}, or {COMMAND}LINE with {{bootstrap}} in it"
    )


def _command(text: str) -> Client:
    line = shlex.split(text)
    if not line or not any("{bootstrap}" in one for one in line):
        raise Misuse(f"the command of a client must contain {{bootstrap}}, unlike {text!r}")
    return Client(f"command {line[0]}", "command", lambda: Program(line, each=True))

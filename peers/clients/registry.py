"""The registry: every client library, by the name that a user gives it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from barnabas.nearest import did_you_mean
from barnabas.peers.clients.client import Client, Program
from barnabas.peers.clients.errors import UnknownClientError
from barnabas.peers.clients.golang import go_program
from barnabas.peers.clients.java import java_program
from barnabas.peers.clients.node import node_program
from barnabas.peers.clients.python import python_program
from barnabas.peers.clients.rust import rust_program

LIBRARIES: Final[tuple[tuple[str, str, Callable[..., Program]], ...]] = (
    ("kafka-python", "a release on PyPI", partial(python_program, "kafka-python", "kafka_python")),
    (
        "confluent-kafka",
        "a release on PyPI, with its librdkafka",
        partial(python_program, "confluent-kafka", "confluent"),
    ),
    ("aiokafka", "a release on PyPI", partial(python_program, "aiokafka", "aiokafka")),
    (
        "java",
        "Apache Kafka's Java client of a release, from Maven Central",
        partial(java_program, "kafka-clients", "java"),
    ),
    (
        "kafka-streams",
        "Apache Kafka's Streams of a release, from Maven Central",
        partial(java_program, "kafka-streams", "kafka_streams"),
    ),
    (
        "franz-go",
        "a release of the Go module",
        partial(go_program, "franz-go", "github.com/twmb/franz-go"),
    ),
    (
        "sarama",
        "a release of the Go module",
        partial(go_program, "sarama", "github.com/IBM/sarama"),
    ),
    (
        "kafka-go",
        "a release of the Go module",
        partial(go_program, "kafka-go", "github.com/segmentio/kafka-go"),
    ),
    ("kafkajs", "a release on npm", partial(node_program, "kafkajs", "kafkajs")),
    (
        "platformatic-kafka",
        "a release of @platformatic/kafka on npm",
        partial(node_program, "platformatic-kafka", "@platformatic/kafka"),
    ),
    ("rdkafka", "a release of the Rust crate, with its librdkafka", rust_program),
)
"""(name, what it is, what gets the program of a version; `counted` of those below it may be told)."""

INSTALLED: Final = {
    "kafka-python": "pip install kafka-python=={}",
    "confluent-kafka": "pip install confluent-kafka=={}",
    "aiokafka": "pip install aiokafka=={}",
    "java": "Maven's org.apache.kafka:kafka-clients:{}",
    "kafka-streams": "Maven's org.apache.kafka:kafka-streams:{}",
    "franz-go": "go get github.com/twmb/franz-go@v{}",
    "sarama": "go get github.com/IBM/sarama@v{}",
    "kafka-go": "go get github.com/segmentio/kafka-go@v{}",
    "kafkajs": "npm install kafkajs@{}",
    "platformatic-kafka": "npm install @platformatic/kafka@{}",
    "rdkafka": "cargo add rdkafka@{}",
}
"""How somebody without barnabas gets a release."""

JAVA: Final = "java"
COUNTED: Final = ("kafka-python", "aiokafka", JAVA, "franz-go", "sarama", "kafka-go")
"""Libraries whose programs can count the lines that they reach."""

NAMES: Final = tuple(name for name, _, _ in LIBRARIES)
WITHOUT_SESSIONS: Final = ("kafka-streams", "kafkajs", "platformatic-kafka", "rdkafka")
"""Libraries whose programs have workloads, but not the fuzzer's sessions."""
WITH_SESSIONS: Final = tuple(name for name in NAMES if name not in WITHOUT_SESSIONS)


def find(text: str, names: Sequence[str] = NAMES) -> Client:
    """The client that a user names: `NAME@VERSION`. Raises UnknownClientError. names: those that may be meant
    by what is none.

    >>> find("kafka-python@2.3.1").name
    'kafka-python 2.3.1'
    """
    name, _, version = text.partition("@")
    for known, _, get in LIBRARIES:
        if known == name and re.fullmatch(r"[\w.+-]+", version):
            counted = partial(get, version, counted=True) if name in COUNTED else None
            return Client(name, version, partial(get, version), counted)
    hint = did_you_mean(name, names) if name not in NAMES else ""
    listed = ", ".join(f"{known}@VERSION" for known in names)
    raise UnknownClientError(f"unknown client {text!r}{hint}; choose from {listed}")


def installed_by(text: str) -> str:
    """How somebody gets the client that a user names; "" for a command of theirs.

    >>> installed_by("sarama@1.46.2"), installed_by("mine {bootstrap}")
    ('go get github.com/IBM/sarama@v1.46.2', '')
    """
    name, _, version = text.partition("@")
    return INSTALLED[name].format(version.removeprefix("v")) if name in INSTALLED else ""

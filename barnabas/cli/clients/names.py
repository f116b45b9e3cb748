"""The clients and workloads that a command line names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from typing import Final

from barnabas.experiments.clients.workloads import WORKLOADS, Workload
from barnabas.experiments.clients.workloads import find as find_workload
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnknownClientError
from barnabas.peers.clients.registry import find as find_client
from barnabas.trouble import Trouble

DEFAULT: Final = (
    "confluent-kafka@2.16.1",
    "kafka-python@3.0.12",
    "aiokafka@0.14.0",
    "java@4.3.1",
    "kafka-streams@4.3.1",
    "franz-go@1.22.3",
    "sarama@1.61.1",
    "kafka-go@0.4.51",
    "kafkajs@2.2.4",
    "platformatic-kafka@2.12.1",
    "rdkafka@0.39.0",
)
"""The clients that run by default."""

WORK: Final = ("produce", "read-process-write", "group")
"""The workloads that run by default."""

EVERY = "all"
"""The name for all workloads."""

Named = tuple[str, Callable[[], Program]]
"""The name of a client, and a function that prepares its program."""


def named_clients(clients: Sequence[str], commands: Sequence[str]) -> list[Named]:
    """Return the clients of `--client`, then those of `--command`. Raises Trouble."""
    try:
        libraries = [(text, find_client(text).prepare) for text in map(with_release, clients)]
    except UnknownClientError as problem:
        raise Trouble(f"--client: {problem}") from None
    return libraries + list(map(_command, commands))


def named_workloads(names: Sequence[str]) -> list[Workload]:
    """Return the workloads with these names. Raises Trouble."""
    if EVERY in names:
        return list(WORKLOADS)
    try:
        return [find_workload(name) for name in names]
    except LookupError as problem:
        raise Trouble(f"--workload: {problem.args[0]}") from None


def with_release(text: str) -> str:
    """Return a client's name with its default release, unless it has one.

    >>> with_release("aiokafka").partition("@")[1], with_release("aiokafka@0.8.0")
    ('@', 'aiokafka@0.8.0')
    """
    return next((client for client in DEFAULT if client.partition("@")[0] == text), text)


def _command(text: str) -> Named:
    name, _, line = text.partition("=")
    try:
        text.encode()  # the folder's files are UTF-8
        words = shlex.split(line)
    except ValueError as problem:
        raise Trouble(f"--command: {text!r} is not a command line: {problem}") from None
    if not words or not re.fullmatch(r"[\w.@-]{1,100}", name):
        raise Trouble(f"--command: expected NAME=LINE, not {text!r}")
    return name, lambda: Program(words)

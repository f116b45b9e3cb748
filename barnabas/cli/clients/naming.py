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
"""The clients that are run if nobody names any."""

WORK: Final = ("produce", "read-process-write", "group")
"""The workloads that are run if nobody names any."""

EVERY = "all"
"""In the place of a workload's name."""

Named = tuple[str, Callable[[], Program]]
"""What a user calls a client, and what gets its program."""


def named_clients(clients: Sequence[str], commands: Sequence[str]) -> list[Named]:
    """Those of --client, and behind them those of --command. Raises Trouble."""
    try:
        found = [(text, find_client(text).prepare) for text in map(with_release, clients)]
    except UnknownClientError as problem:
        raise Trouble(f"--client: {problem}") from None
    return found + list(map(_command, commands))


def named_workloads(names: Sequence[str]) -> list[Workload]:
    """Those of these names. Raises Trouble."""
    if EVERY in names:
        return list(WORKLOADS)
    try:
        return [find_workload(name) for name in names]
    except LookupError as problem:
        raise Trouble(f"--workload: {problem.args[0]}") from None


def with_release(text: str) -> str:
    """A client with the release that is run if nobody names one.

    >>> with_release("aiokafka").partition("@")[1], with_release("aiokafka@0.8.0")
    ('@', 'aiokafka@0.8.0')
    """
    return next((one for one in DEFAULT if one.partition("@")[0] == text), text)


def _command(text: str) -> Named:
    name, _, line = text.partition("=")
    try:
        words = shlex.split(line)
    except ValueError as problem:
        raise Trouble(f"--command: {text!r} is no command line: {problem}") from None
    if not words or not re.fullmatch(r"[\w.@-]+", name):
        raise Trouble(f"--command: expected NAME=LINE, unlike {text!r}")
    return name, lambda: Program(words)

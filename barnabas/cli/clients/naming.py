"""The clients and workloads that a command line names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

from barnabas.experiments.clients.workloads import WORKLOADS, Workload
from barnabas.experiments.clients.workloads import find as find_workload
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnknownClientError
from barnabas.peers.clients.registry import find as find_client
from barnabas.trouble import Trouble

EVERY = "all"
"""In the place of a workload's name."""

Named = tuple[str, Callable[[], Program]]
"""What a user calls a client, and what gets its program."""


def named_clients(clients: Sequence[str], commands: Sequence[str]) -> list[Named]:
    """Those of --client, and behind them those of --command. Raises Trouble."""
    try:
        found = [(text, find_client(text).prepare) for text in clients]
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
        raise Trouble(str(problem.args[0])) from None


def _command(text: str) -> Named:
    name, _, line = text.partition("=")
    try:
        words = shlex.split(line)
    except ValueError as problem:
        raise Trouble(f"--command: {text!r} is no command line: {problem}") from None
    if not words or not re.fullmatch(r"[\w.@-]+", name):
        raise Trouble(f"--command: expected NAME=LINE, unlike {text!r}")
    return name, lambda: Program(words)

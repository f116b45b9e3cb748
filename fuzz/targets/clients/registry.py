"""The clients that a user can name as a target."""

from __future__ import annotations

import shlex
from typing import Final

from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.peers.clients.client import Client, Program
from barnabas.peers.clients.errors import UnknownClientError
from barnabas.peers.clients.registry import WITH_SESSIONS, find

COMMAND: Final = "command:"
"""What stands in front of a command line, with {bootstrap} and {topic} in it."""


def client(text: str) -> ClientTarget:
    """The target that a user names: `NAME@VERSION`, or `command:LINE`. Raises Misuse.

    >>> client("command:kcat -b {bootstrap} -t {topic} -C -e").name
    'command kcat'
    """
    if text.startswith(COMMAND):
        return _command(text.removeprefix(COMMAND))
    try:
        return ClientTarget(library(text))
    except UnknownClientError as problem:
        raise Misuse(f"{problem}, or {COMMAND}LINE with {{bootstrap}} in it") from None


def library(text: str) -> Client:
    """The client of a library that a user names: `NAME@VERSION`.

    Raises UnknownClientError, and Misuse for one that has no sessions for the fuzzer.
    """
    found = find(text, WITH_SESSIONS)
    if found.library not in WITH_SESSIONS:
        why = (
            f"{found.library} has no sessions for the fuzzer; `barnabas clients` runs its workloads"
        )
        raise Misuse(why)
    return found


def _command(text: str) -> ClientTarget:
    line = shlex.split(text)
    if not line or not any("{bootstrap}" in one for one in line):
        raise Misuse(f"the command of a client must contain {{bootstrap}}, unlike {text!r}")
    return ClientTarget(Client("command", line[0], lambda: Program(line)), each=True)

"""The registry of clients that a user can name as a target."""

from __future__ import annotations

import shlex
from typing import Final

from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.peers.clients.client import Client, Program
from barnabas.peers.clients.errors import UnknownClientError
from barnabas.peers.clients.registry import WITH_SESSIONS, find

COMMAND: Final = "command:"
"""The prefix of a command line with {bootstrap} and {topic} in it."""


def client(text: str) -> ClientTarget:
    """Return the target that a user names: `NAME@VERSION`, or `command:LINE`. Raises Misuse.

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
    """Return the client of a library that a user names: `NAME@VERSION`.

    Raises:
        UnknownClientError: There is no such client.
        Misuse: The client has no sessions for the fuzzer.
    """
    client = find(text, WITH_SESSIONS)
    if client.library not in WITH_SESSIONS:
        message = f"{client.library} has no sessions for the fuzzer; `barnabas clients` runs its workloads"
        raise Misuse(message)
    return client


def _command(text: str) -> ClientTarget:
    line = shlex.split(text)
    if not line or not any("{bootstrap}" in word for word in line):
        raise Misuse(f"the command of a client must contain {{bootstrap}}, not {text!r}")
    return ClientTarget(Client("command", line[0], lambda: Program(line)), each=True)

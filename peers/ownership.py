"""The check for brokers that may be written to or attacked: this machine's, or the user's own."""

from __future__ import annotations

import ipaddress
from typing import Final

OPTION: Final = "--i-own-this-target"
"""The command-line option that confirms ownership."""


def refusal(host: str, consequence: str, *, owned: bool, name: str | None = None) -> str:
    """Return why a broker may not be written to; empty text if it may.

    Args:
        host: the broker's host.
        consequence: what would happen to it.
        owned: whether the user has confirmed ownership.
        name: the broker in the message; None: the host.

    >>> refusal("broker.example", "a replay writes to it", owned=False)
    'broker.example is not this machine, and a replay writes to it: if you own it, give --i-own-this-target'
    """
    if owned or is_loopback(host):
        return ""
    return f"{name or host} is not this machine, and {consequence}: if you own it, give {OPTION}"


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

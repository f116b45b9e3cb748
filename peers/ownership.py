"""Whose brokers may be written to or attacked: this machine's; others only if they are the user's own."""

from __future__ import annotations

import ipaddress
from typing import Final

OPTION: Final = "--i-own-this-target"
"""How a user says so on the command line."""


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can connect to an address.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

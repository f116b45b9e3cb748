"""The check for brokers that may be written to or attacked: this machine's, or the user's own."""

from __future__ import annotations

import ipaddress
from typing import Final

OPTION: Final = "--i-own-this-target"
"""The command-line option that confirms ownership."""


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

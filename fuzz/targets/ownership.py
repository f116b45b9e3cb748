"""Whose target it is: this machine's own addresses, and others only if the user says that they are theirs."""

from __future__ import annotations

from barnabas.fuzz.errors import Misuse
from barnabas.peers.ownership import OPTION, is_loopback


def check_own(host: str, own: bool) -> None:
    """Raises Misuse for a host that is not this machine, unless the user named it as their own.

    >>> check_own("127.0.0.1", False), check_own("broker.example", True)
    (None, None)
    """
    if not own and not is_loopback(host):
        raise Misuse(
            f"{host} is not this machine, and malformed frames may damage it: if you own it, give "
            f"{OPTION}"
        )

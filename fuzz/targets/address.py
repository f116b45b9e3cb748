"""A broker that somebody else runs, by its address."""

from __future__ import annotations

from fuzz.ownership import check_own
from fuzz.targets.broker import BrokerTarget
from fuzz.targets.service import Elsewhere


def address(host: str, port: int, *, own: bool = False) -> BrokerTarget:
    """The target. Raises fuzz.errors.Misuse for another machine, unless the user says that it is theirs."""
    check_own(host, own)
    return BrokerTarget(Elsewhere(host, port))

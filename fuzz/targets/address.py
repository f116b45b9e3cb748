"""A broker that somebody else runs, by its address."""

from __future__ import annotations

from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.ownership import check_own
from barnabas.fuzz.targets.service import Elsewhere


def address(host: str, port: int, *, own: bool = False) -> BrokerTarget:
    """The target. Raises fuzz.errors.Misuse for another machine, unless the user says that it is theirs."""
    check_own(host, own)
    return BrokerTarget(Elsewhere(host, port))

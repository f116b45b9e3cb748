"""A broker that somebody else runs, by its address."""

from __future__ import annotations

from barnabas.fuzz.targets.address_settings import Address
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.ownership import check_own
from barnabas.fuzz.targets.service import Elsewhere


def address(where: Address, *, own: bool = False) -> BrokerTarget:
    """The target. Raises fuzz.errors.Misuse for another machine, unless the user says that it is theirs."""
    check_own(where.host, own)
    return BrokerTarget(Elsewhere(where.host, where.port), who=where.credentials())

"""Finds rules that fire again on a client's next connection, despite `times`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.proxy.faults.blackhole import Blackhole
from barnabas.proxy.faults.close import Close
from barnabas.proxy.faults.drop import Drop
from barnabas.proxy.faults.half_close import HalfClose
from barnabas.proxy.faults.lose_reply import LoseReply
from barnabas.proxy.faults.reset import Reset
from barnabas.proxy.faults.truncate import Truncate
from barnabas.proxy.scenario.model import Scenario

_ENDS: Final = (Blackhole, Close, Drop, HalfClose, LoseReply, Reset, Truncate)
"""Faults after which a client opens another connection, at once or after its request has timed out."""


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each rule with such a fault that counts on each connection, and the remedy."""
    for rule in scenario.rules:
        when = rule.when
        ending_fault = next(
            (fault.name for fault in rule.do if isinstance(fault.config, _ENDS)), ""
        )
        counted = when.times is not None and when.scope == "connection"
        if ending_fault and counted and rule.match.connection is None:
            yield (
                rule.name,
                f"times counts per connection: after {ending_fault} the client reconnects, and "
                f"the rule fires again; with scope: rule, times counts all connections together",
            )

"""Finds rules whose faults wait for a message that cannot come."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.proxy.matching.contents import names_any
from barnabas.proxy.matching.match import Match, Until
from barnabas.proxy.scenario.lint.dead_rules import unmet
from barnabas.proxy.scenario.model import Scenario


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each such rule, and why the message cannot come."""
    for rule in scenario.rules:
        for until in (until for fault in rule.do for until in fault.untils):
            for reason in (*unmet(until), *_apart(rule.match, until)):
                yield rule.name, reason


def _apart(match: Match, until: Until) -> Iterator[str]:
    """Yield why the message cannot pass in the scope in which the fault waits for it."""
    if until.same == "group":
        for noun, candidate in (("held", match), ("waited for", until)):
            if not any(
                names_any("group", key, direction, version)
                for key, direction, version in candidate.kinds()
            ):
                yield f"no group is named by the messages {noun}: {candidate.describe()}"
    if until.same == "connection":
        for noun, here, there in (
            ("broker", match.broker, until.broker),
            ("connection", match.connection, until.connection),
        ):
            if here is not None and there is not None and not here & there:
                yield f"`match` and `until` (same: connection) have no {noun} in common"

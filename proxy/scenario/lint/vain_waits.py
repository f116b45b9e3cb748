"""Rules whose faults wait for a message that can't come."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.proxy.matching.kinds import names_any
from barnabas.proxy.matching.match import Match, Until
from barnabas.proxy.scenario.lint.dead_rules import unmet
from barnabas.proxy.scenario.model import Scenario


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Each such rule, and why what it waits for can't come."""
    for rule in scenario.rules:
        for until in (until for fault in rule.do for until in fault.untils):
            for reason in (*unmet(until), *_apart(rule.match, until)):
                yield rule.name, reason


def _apart(match: Match, until: Until) -> Iterator[str]:
    """Why what is waited for can't pass where it is waited for."""
    if until.same == "group":
        for what, one in (("held", match), ("waited for", until)):
            if not any(names_any("group", key, way, version) for key, way, version in one.kinds()):
                yield f"no group is named by the messages {what}: {one.describe()}"
    if until.same == "connection":
        for what, here, there in (
            ("broker", match.broker, until.broker),
            ("connection", match.connection, until.connection),
        ):
            if here is not None and there is not None and not here & there:
                yield f"`match` and `until` (same: connection) have no {what} in common"

"""Finds rules whose chance depends on the order in which a client opens its connections."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.proxy.scenario.model import Scenario


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each rule that fires on a share of its matches by connection, and what that depends on."""
    for rule in scenario.rules:
        when = rule.when
        shares = [when.probability * phase.probability for phase in when.phases] or [
            when.probability
        ]
        if when.scope == "connection" and not when.key and any(0 < share < 1 for share in shares):
            yield (
                rule.name,
                "whether it fires depends on the order in which a client opens connections to a "
                "broker; with key, it depends on the message",
            )

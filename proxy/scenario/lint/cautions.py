"""Finds faults to which Kafka's clients react more strongly than may be intended."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.proxy.scenario.model import Scenario


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each rule with such a fault, and the clients' reaction."""
    if scenario.dialect is None:
        for rule in scenario.rules:
            for fault in rule.do:
                if caution := getattr(fault.config, "caution", ""):
                    yield rule.name, f"{fault.name} {caution}"

"""Faults to which Kafka's clients react more strongly than may be meant."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.proxy.scenario.model import Scenario


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Each rule with such a fault, and what clients make of that."""
    if scenario.dialect is None:
        for rule in scenario.rules:
            for fault in rule.do:
                if caution := getattr(fault.config, "caution", ""):
                    yield rule.name, f"{fault.name} {caution}"

"""All that is to be said of a scenario that is right, when it is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.proxy.scenario.lint import costs, dependence
from barnabas.proxy.scenario.lint.dead_rules import warnings

if TYPE_CHECKING:
    from barnabas.proxy.scenario.model import Scenario


def remarks(scenario: Scenario | None) -> list[str]:
    """Warnings of rules that can do nothing, then notes: what clients can't bear, what depends on other
    connections, what costs."""
    return [
        *warnings(scenario),
        *_cautions(scenario),
        *dependence.notes(scenario),
        *costs.notes(scenario),
    ]


def _cautions(scenario: Scenario | None) -> list[str]:
    """A line for each fault of which Kafka's clients make more than may be meant."""
    if scenario is None or scenario.dialect is not None:
        return []
    return [
        f"note: rule {rule.name!r}: {fault.name} {caution}"
        for rule in scenario.rules
        for fault in rule.do
        if (caution := getattr(fault.config, "caution", ""))
    ]

"""All that is to be said of a scenario that is right, when it is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy import costs, dependence
from proxy.never import warnings

if TYPE_CHECKING:
    from proxy.scenario_model import Scenario


def remarks(scenario: Scenario | None) -> list[str]:
    """Warnings of rules that can do nothing, then notes: what depends on other connections, what costs."""
    return [*warnings(scenario), *dependence.notes(scenario), *costs.notes(scenario)]

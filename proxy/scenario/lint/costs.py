"""What a scenario costs, where that can't be seen from it: said when it is loaded."""

from __future__ import annotations

from barnabas.captures.kafka.expression import Expression, expression
from barnabas.proxy.matching.match import Match
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs import api


def notes(scenario: Scenario | None) -> list[str]:
    """A line for each condition that needs more of a body than fields of its top level."""
    return [
        f"note: rule {rule.name!r} decodes {what} of each {rule.match.describe()} for its condition"
        for rule in (scenario.rules if scenario is not None else ())
        if rule.where is not None and (what := _decoded(expression(rule.where), rule.match))
    ]


def _decoded(condition: Expression, match: Match) -> str:
    """What is decoded beside single values; "" if nothing is."""
    if not condition.roots:
        return "the whole body"
    parts = [root for root in condition.roots if _has_parts(match, root)]
    return f"all {' and '.join(parts)}" if parts else ""


def _has_parts(match: Match, root: str) -> bool:
    """Whether a field is an array or structure, in a version that is meant."""
    return any(
        slot.node.kind in ("array", "struct")
        for key, direction, version in match.kinds()
        for slot in api(key).message(direction).layout(version).slots
        if slot.name == root
    )

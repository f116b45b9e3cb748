"""Finds conditions that need most of a body decoded."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.captures.kafka.expression import Expression, expression
from barnabas.proxy.matching.match import Match
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs import api


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each rule whose condition needs more than top-level fields of a body, and what it needs."""
    for rule in scenario.rules:
        if rule.where is not None and (decoded := _decoded(expression(rule.where), rule.match)):
            yield rule.name, f"{decoded} of each {rule.match.describe()} for its condition"
        if rule.record is not None:
            yield rule.name, f"the records of each {rule.match.describe()} for its condition"


def _decoded(condition: Expression, match: Match) -> str:
    """Return what is decoded in addition to single values; "" if nothing is."""
    if not condition.roots:
        return "the whole body"
    parts = [root for root in condition.roots if _has_parts(match, root)]
    return f"all {' and '.join(parts)}" if parts else ""


def _has_parts(match: Match, root: str) -> bool:
    """Return whether a field is an array or structure in a matching version."""
    return any(
        slot.node.kind in ("array", "struct")
        for key, direction, version in match.kinds()
        for slot in api(key).message(direction).layout(version).slots
        if slot.name == root
    )

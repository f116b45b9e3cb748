"""Conditions that need most of a body decoded."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.captures.kafka.expression import Expression, expression
from barnabas.proxy.matching.match import Match
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs import api


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Each rule whose condition needs more of a body than fields of its top level, and what it needs."""
    for rule in scenario.rules:
        if rule.where is not None and (what := _decoded(expression(rule.where), rule.match)):
            yield rule.name, f"{what} of each {rule.match.describe()} for its condition"
        if rule.record is not None:
            yield rule.name, f"the records of each {rule.match.describe()} for its condition"


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

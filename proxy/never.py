"""Rules that can never do anything, and why: said when a scenario is loaded.

What is wrong in itself (a field that no version has) is an error; this is about parts that do not
fit each other, such as a field that the versions that are meant do not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from captures.errors import error_paths
from captures.expression import expression
from proxy.dependence import notes
from proxy.faults.clamp import Clamp
from proxy.faults.quota import Quota
from proxy.faults.steer import Steer
from proxy.matching import Match
from proxy.where import check
from specs import NAMES
from specs.entities import entity_paths
from specs.frames import PRODUCE
from specs.headers import API_VERSIONS

if TYPE_CHECKING:
    from proxy.scenario_model import RuleConfig, Scenario

METADATA = 3
FIND_COORDINATOR = 10


def remarks(scenario: Scenario | None) -> list[str]:
    """All that is to be said of a scenario that is right: warnings, then notes."""
    return [*warnings(scenario), *notes(scenario)]


def warnings(scenario: Scenario | None) -> list[str]:
    """A line for each rule that can't ever fire, or whose fault can't be done."""
    return [
        f"warning: rule {rule.name!r} can't do anything: {reason}"
        for rule in (scenario.rules if scenario is not None else ())
        for reason in _reasons(rule)
    ]


def _reasons(rule: RuleConfig) -> Iterator[str]:
    match = rule.match
    kinds = list(match.kinds())
    what = match.describe()
    if match.acks is not None and (PRODUCE, "request") not in {(k, d) for k, d, _ in kinds}:
        yield f"acks is about Produce requests, not {what}"
    if match.error is not None and not any(
        direction == "response" and error_paths(key, version) for key, direction, version in kinds
    ):
        yield f"there is no error code in {what}"
    for entity, _ in match.entities:
        if not any(
            entity_paths(entity, key, way, version)
            for key, direction, version in kinds
            for way in ({direction, "request"} if direction == "response" else {direction})
        ):
            yield f"no {entity.replace('_', ' ')} is named in {what}"
    if rule.where is not None:
        yield from check(expression(rule.where), match)
    for fault in rule.do:
        for path in getattr(fault.config, "paths", ()):
            yield from (f"{fault.name}: {problem}" for problem in check(expression(path), match))
        yield from _fault(fault.name, fault.config, match, {(key, way) for key, way, _ in kinds})


def _fault(name: str, config: object, match: Match, kinds: set[tuple[int, str]]) -> Iterator[str]:
    needs: set[tuple[int, str]] | None = None
    match config:
        case Quota():
            needs = {(key, "response") for key in NAMES}
        case Clamp():
            needs = {(API_VERSIONS, "response")}
        case Steer():
            needs = {(METADATA, "response"), (FIND_COORDINATOR, "response")}
    if needs is not None and not needs & kinds:
        yield f"{name} can't be done to {match.describe()}"

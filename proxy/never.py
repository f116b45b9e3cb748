"""Rules that can never do anything, and why: said when a scenario is loaded.

What is wrong in itself (a field that no version has) is an error; this is about parts that do not
fit each other, such as a field that the versions that are meant do not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from captures.expression import expression
from proxy.faults.clamp import Clamp
from proxy.faults.quota import Quota
from proxy.faults.steer import Steer
from proxy.matching import Match
from proxy.where import check
from specs import NAMES
from specs.headers import API_VERSIONS

if TYPE_CHECKING:
    from proxy.scenario_model import RuleConfig, Scenario

METADATA = 3
FIND_COORDINATOR = 10

_MISSING: Final = {
    "acks": "acks is about Produce requests, not {}",
    "error": "there is no error code in {}",
    "topic": "no topic is named in {}",
    "group": "no group is named in {}",
    "transactional_id": "no transactional id is named in {}",
}
"""What is asked for -> why these messages can't have it."""


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
    missing = [set(match.misses(direction, key, version)) for key, direction, version in kinds]
    for asked in set.intersection(*missing) if missing else ():
        yield _MISSING[asked].format(what)
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

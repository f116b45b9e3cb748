"""Responses about the rules of a proxy, and about drafts of rules."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from barnabas.page.answers.common import Json


class Rule(TypedDict):
    """The counters of a rule."""

    name: str
    matched: NotRequired[int]
    fired: int
    to_fire: NotRequired[int]
    released: NotRequired[int]
    timed_out: NotRequired[int]
    connection_ended: NotRequired[int]
    undecided: NotRequired[int]
    what: NotRequired[str]
    missing_workers: NotRequired[list[int]]


class Scenario(TypedDict):
    """The scenario in effect."""

    text: str
    seed: NotRequired[int]
    rules: list[Rule]
    missing_workers: NotRequired[list[int]]


class Problem(TypedDict):
    """An error in a line of a scenario."""

    line: int
    text: str


class ScenarioProblems(TypedDict):
    """The errors in a scenario, or remarks on a valid one."""

    problems: list[Problem]
    remarks: list[str]


class RuleTrial(TypedDict):
    """The effect that a rule would have had; `matches` and `fires` are numbers of exchanges."""

    name: str
    matches: list[int]
    matched: int
    fired: int
    undecided: int
    why: str
    fires: list[int]


class ScenarioTrial(TypedDict):
    """The effect that the rules of a scenario would have had."""

    exchanges: int
    rules: list[RuleTrial]
    limits: str


class MatchCondition(TypedDict):
    """A condition that the match of a drafted rule may have."""

    name: str
    value: Json
    kept: bool


class Draft(TypedDict):
    """A rule in YAML, alone and as a scenario, and the conditions that its match may have."""

    name: str
    rule: str
    scenario: str
    parts: list[MatchCondition]
    settings: str

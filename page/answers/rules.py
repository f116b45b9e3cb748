"""The rules of a proxy, and what helps to write some."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from barnabas.page.answers.common import Json


class Rule(TypedDict):
    """What a rule has done."""

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
    """The one that holds."""

    text: str
    seed: NotRequired[int]
    rules: list[Rule]
    missing_workers: NotRequired[list[int]]


class Problem(TypedDict):
    """What is wrong in a line of a scenario."""

    line: int
    text: str


class Checked(TypedDict):
    """What is wrong with a scenario, and what is to be said of one that is right."""

    problems: list[Problem]
    remarks: list[str]


class Tried(TypedDict):
    """What a rule would have done; matches, fires: which exchanges."""

    name: str
    matches: list[int]
    matched: int
    fired: int
    undecided: int
    why: str
    fires: list[int]


class Try(TypedDict):
    """What the rules of a scenario would have done."""

    exchanges: int
    rules: list[Tried]
    limits: str


class Part(TypedDict):
    """What the match of a drafted rule can have."""

    name: str
    value: Json
    kept: bool


class Draft(TypedDict):
    """A rule in YAML, alone and in a scenario of its own, and what its match can have."""

    name: str
    rule: str
    scenario: str
    parts: list[Part]
    settings: str

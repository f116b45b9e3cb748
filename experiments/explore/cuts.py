"""The faults that are put at an exchange, one at a time, each as an ordinary scenario.

They are the rules of a template: a rule there has a name, `match.direction` (request if absent) and
`do`; which message it is about comes from the exchange.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from barnabas.experiments.explore.recording import Step
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.scenario.file import ScenarioError, loads
from barnabas.proxy.scenario.yaml_lines import dump, plain, read
from barnabas.specs.frames import Direction

CUTS: Final = """\
version: 1
rules:
  - {name: before the request, match: {direction: request}, do: close}
  - {name: after the broker has it, match: {direction: request}, do: lose_reply}
  - {name: after the reply, match: {direction: response}, do: {close: {forward: true}}}
"""
"""What is done without a template: the connection is cut at the three moments of an exchange."""


class Cut(NamedTuple):
    """A fault of the template."""

    name: str
    direction: Direction
    do: Any
    """As it stands in the template."""
    seed: int


def cuts(text: str, name: str, faults: tuple[Fault, ...] = FAULTS) -> tuple[Cut, ...]:
    """The faults of a template.

    Raises barnabas.proxy.scenario.file.ScenarioError for what is no scenario, ValueError for one that is no
    template.

    >>> [cut.name for cut in cuts(CUTS, "default")]
    ['before the request', 'after the broker has it', 'after the reply']
    """
    scenario = loads(text, name, faults)
    written = plain(read(text).value)["rules"]
    if not scenario.rules:
        raise ValueError(f"{name}: a template needs at least one rule")
    slugs: dict[str, str] = {}
    for rule, raw in zip(scenario.rules, written, strict=True):
        match = raw.get("match") or {}
        more = [
            *(key for key in ("where", "record", "when") if key in raw),
            *(set(match) - {"direction"}),
        ]
        if more:
            raise ValueError(
                f"{name}: rule {rule.name!r} gives {sorted(more)[0]}: a template rule may have "
                "only name, match.direction and do (the exchange says what matches and when)"
            )
        other = slugs.setdefault(slug(rule.name), rule.name)
        if other != rule.name:
            raise ValueError(f"{name}: {other!r} and {rule.name!r} would have the same file name")
    return tuple(
        Cut(rule.name, rule.match.direction or "request", raw["do"], scenario.seed)
        for rule, raw in zip(scenario.rules, written, strict=True)
    )


def fits(step: Step, cut: Cut, faults: tuple[Fault, ...] = FAULTS) -> bool:
    """Whether the fault can be done to such a message: it may name fields that this API has not got."""
    try:
        loads(scenario_text(step, cut), faults=faults)
    except ScenarioError:
        return False
    return True


def file_name(step: Step, cut: Cut) -> str:
    """What the scenario's file is called.

    >>> file_name(Step(7, "orders", "Produce", 0, 0), cuts(CUTS, "default")[0])
    '007-Produce-before-the-request.yaml'
    """
    return f"{step.k:03}-{step.api}-{slug(cut.name)}.yaml"


def slug(name: str) -> str:
    """A name as part of a file's."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")


def scenario_text(step: Step, cut: Cut) -> str:
    """The scenario that does this to that exchange, and to nothing else."""
    skip = step.request if cut.direction == "request" else step.response
    rule = {
        "name": cut.name,
        "match": {"api": step.api, "direction": cut.direction, "client_id": step.client},
        "when": {"skip": skip, "times": 1, "scope": "rule"},
        "do": cut.do,
    }
    what = f"# exchange {step.k} of the recording: {step.api} {step.request + 1} of {step.client}\n"
    document = {"version": 1, "seed": cut.seed, "rules": [rule]}
    return what + dump(document)

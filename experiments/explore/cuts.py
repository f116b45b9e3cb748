"""The faults of an exploration, each as a scenario for one exchange.

They are the rules of a template: a rule has a name, `match.direction` (default: request), `match.api`
(default: all) and `do`; the exchange determines the matching message.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from barnabas.experiments.explore.recording import Step
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.scenario.file import ScenarioError, loads
from barnabas.proxy.scenario.yaml_lines import dump, plain, read
from barnabas.specs import NAMES
from barnabas.specs.frames import Direction

CUTS: Final = """\
version: 1
rules:
  - {name: before the request, match: {direction: request}, do: close}
  - {name: after the broker has it, match: {direction: request}, do: lose_reply}
  - {name: after the reply, match: {direction: response}, do: {close: {forward: true}}}
"""
"""The template that cuts the connection at the three moments of an exchange."""


class Cut(NamedTuple):
    """A fault of the template."""

    name: str
    direction: Direction
    do: Any
    """The fault as in the template."""
    seed: int = 0
    apis: frozenset[str] = frozenset()
    """The names of the APIs to which the fault applies; empty: all."""
    after: str = ""
    """The API that the client must have called before; empty: none."""

    def concerns(self, api: str) -> bool:
        """Return whether the fault is meant for exchanges of an API."""
        return not self.apis or api in self.apis


def cuts(text: str, name: str, faults: tuple[Fault, ...] = FAULTS) -> tuple[Cut, ...]:
    """Return the faults of a template.

    >>> [cut.name for cut in cuts(CUTS, "default")]
    ['before the request', 'after the broker has it', 'after the reply']

    Args:
        text: YAML.
        name: of the template, for error messages.
        faults: known kinds of faults.

    Raises:
        ScenarioError: The text is not a valid scenario (barnabas.proxy.scenario.file).
        ValueError: The scenario is not a valid template.
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
            *(set(match) - {"direction", "api"}),
        ]
        if more:
            raise ValueError(
                f"{name}: rule {rule.name!r} gives {sorted(more)[0]}: a template rule may have "
                "only name, match.api, match.direction and do (the exchange says what matches and when)"
            )
        other = slugs.setdefault(slug(rule.name), rule.name)
        if other != rule.name:
            raise ValueError(f"{name}: {other!r} and {rule.name!r} would have the same file name")
    return tuple(
        Cut(
            rule.name,
            rule.match.direction or "request",
            raw["do"],
            scenario.seed,
            frozenset(NAMES[key] for key in rule.match.api or ()),
        )
        for rule, raw in zip(scenario.rules, written, strict=True)
    )


def fits(step: Step, cut: Cut, faults: tuple[Fault, ...] = FAULTS) -> bool:
    """Return whether a fault applies to an exchange: it may name fields that the API lacks."""
    try:
        loads(scenario_text(step, cut), faults=faults)
    except ScenarioError:
        return False
    return True


def file_name(step: Step, cut: Cut) -> str:
    """Return the name of a scenario's file.

    >>> file_name(Step(7, "orders", "Produce", 0, 0), cuts(CUTS, "default")[0])
    '007-Produce-before-the-request.yaml'
    """
    return f"{step.k:03}-{step.api}-{slug(cut.name)}.yaml"


def slug(name: str) -> str:
    """Return a name as part of a file name."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")


def scenario_text(step: Step, cut: Cut) -> str:
    """Return a scenario that applies a fault to one exchange only."""
    skip = step.request if cut.direction == "request" else step.response
    rule = {
        "name": cut.name,
        "match": {"api": step.api, "direction": cut.direction, "client_id": step.client},
        "when": {"skip": skip, "times": 1, "scope": "rule"},
        "do": cut.do,
    }
    comment = (
        f"# exchange {step.k} of the recording: {step.api} {step.request + 1} of {step.client}\n"
    )
    document = {"version": 1, "seed": cut.seed, "rules": [rule]}
    return comment + dump(document)

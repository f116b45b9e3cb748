"""Adds a rule to a scenario's text, or removes one; comments and layout are lost."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final

from pydantic import ValidationError

from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.scenario.errors import ScenarioError, explain
from barnabas.proxy.scenario.model import Scenario
from barnabas.proxy.scenario.yaml_lines import Document, dump, plain, read

EMPTY: Final = "version: 1\nrules: []\n"
"""A scenario without rules."""


def with_rule(scenario: str, rule: str, faults: tuple[Fault, ...] = FAULTS) -> str:
    """The scenario with a rule behind its others.

    Raises ScenarioError with all that is wrong with the rule, and its lines.

    >>> print(with_rule(EMPTY, "{name: cut, do: close}"), end="")
    version: 1
    rules:
    - name: cut
      do: close
    """
    return with_rules(scenario, [rule], faults)


def with_rules(scenario: str, rules: Sequence[str], faults: tuple[Fault, ...] = FAULTS) -> str:
    """The scenario with rules behind its others. Raises ScenarioError with what is wrong with the first one
    that is wrong."""
    values = _values(scenario)
    names = {rule["name"] for rule in values["rules"]}
    for rule in rules:
        name, value = _rule(rule, names, faults)
        names.add(name)
        values["rules"].append(value)
    return dump(values)


def _rule(text: str, names: Set[str], faults: tuple[Fault, ...]) -> tuple[str, Any]:
    """Its name, which is to be none of these, and its plain values. Raises ScenarioError."""
    found = read(text)
    problems, name = list(found.problems), ""
    if not found.broken:
        alone = {"version": 1, "rules": (found.value,)}
        document = Document(
            alone,
            {("rules", 0, *loc): line for loc, line in found.lines.items()},
            unread={("rules", 0, *loc) for loc in found.unread},
        )
        try:
            name = Scenario.model_validate(alone, context={"faults": faults}).rules[0].name
        except ValidationError as error:
            problems += explain(error, document, Scenario, faults)
        else:
            if name in names:
                said = f"a rule is called {name!r} already; remove it, or name this one otherwise"
                problems.append((document.line(("rules", 0, "name")), said))
    if problems:
        raise ScenarioError(tuple(f"rule:{line}: {said}" for line, said in problems))
    return name, plain(found.value)


def without_rule(scenario: str, name: str) -> str:
    """The scenario without the rule of this name. Raises LookupError if there is none."""
    values = _values(scenario)
    rules = [rule for rule in values["rules"] if rule["name"] != name]
    if len(rules) == len(values["rules"]):
        raise LookupError(name)
    return dump({**values, "rules": rules})


def _values(scenario: str) -> dict[str, Any]:
    """The plain values of a scenario that is right."""
    values: dict[str, Any] = plain(read(scenario).value)
    return values

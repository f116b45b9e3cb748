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
    """Return the scenario with a rule after its others.

    Raises:
        ScenarioError: The rule is invalid; all problems are listed with their lines.

    >>> print(with_rule(EMPTY, "{name: cut, do: close}"), end="")
    version: 1
    rules:
    - name: cut
      do: close
    """
    return with_rules(scenario, [rule], faults)


def with_rules(scenario: str, rules: Sequence[str], faults: tuple[Fault, ...] = FAULTS) -> str:
    """Return the scenario with rules after its others.

    Raises:
        ScenarioError: A rule is invalid; the problems of the first such rule are listed.
    """
    values = _values(scenario)
    names = {rule["name"] for rule in values["rules"]}
    for rule in rules:
        name, value = _rule(rule, names, faults)
        names.add(name)
        values["rules"].append(value)
    return dump(values)


def _rule(text: str, names: Set[str], faults: tuple[Fault, ...]) -> tuple[str, Any]:
    """Return the name of a rule, which must not be in `names`, and its plain values.

    Raises ScenarioError.
    """
    document_part = read(text)
    problems, name = list(document_part.problems), ""
    if not document_part.broken:
        alone = {"version": 1, "rules": (document_part.value,)}
        document = Document(
            alone,
            {("rules", 0, *loc): line for loc, line in document_part.lines.items()},
            unread={("rules", 0, *loc) for loc in document_part.unread},
        )
        try:
            name = Scenario.model_validate(alone, context={"faults": faults}).rules[0].name
        except ValidationError as error:
            problems += explain(error, document, Scenario, faults)
        else:
            if name in names:
                message = f"a rule called {name!r} exists; remove it, or choose another name"
                problems.append((document.line(("rules", 0, "name")), message))
    if problems:
        raise ScenarioError(tuple(f"rule:{line}: {message}" for line, message in problems))
    return name, plain(document_part.value)


def without_rule(scenario: str, name: str) -> str:
    """Return the scenario without the rule of this name.

    Raises:
        LookupError: There is no such rule.
    """
    values = _values(scenario)
    rules = [rule for rule in values["rules"] if rule["name"] != name]
    if len(rules) == len(values["rules"]):
        raise LookupError(name)
    return dump({**values, "rules": rules})


def _values(scenario: str) -> dict[str, Any]:
    """Return the plain values of a valid scenario."""
    values: dict[str, Any] = plain(read(scenario).value)
    return values

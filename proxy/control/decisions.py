"""What somebody decides about a message that waits, as a scenario of one rule that does the same again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from glob import escape
from typing import Any, Final

from barnabas.captures.kafka.wording import shorten
from barnabas.proxy.connection.breakpoints import Waiting
from barnabas.proxy.control.editing import EMPTY
from barnabas.proxy.rules.by_hand import DECISIONS, NAMES
from barnabas.proxy.scenario.errors import ScenarioError
from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.yaml_lines import dump, plain, read
from barnabas.specs import NAMES as APIS

NESTED: Final = "it is nested too deep"


def wanted(text: str) -> Any:
    """What is to be done, as a rule's `do` has it (YAML or JSON); None: the message is let go.

    Raises ScenarioError.

    >>> wanted('{"drop": {"selective": true}}'), wanted("reset"), wanted("")
    ({'drop': {'selective': True}}, 'reset', None)
    """
    if not text.strip():
        return None
    try:
        value = json.loads(text)  # YAML takes no pairs of surrogates
    except RecursionError:
        raise ScenarioError((NESTED,)) from None
    except ValueError:
        document = read(text)
        if document.problems:
            raise ScenarioError(tuple(said for _, said in document.problems)) from None
        value = plain(document.value)
    if value in (None, "", [], {}):
        return None
    for name in _names(value):
        if name not in NAMES:
            shown = shorten(str(name), 40)
            known = ", ".join(NAMES)
            raise ScenarioError((f"{shown!r} can't be decided: give one of {known}, or nothing",))
    return value


def as_scenario(do: Any, about: Waiting, scenario: str = EMPTY) -> str:
    """A scenario that does to the next message of its kind what is done to this one.

    It looks for what the breakpoint's rule (of `scenario`) looks for, from this client alone. Raises
    ScenarioError with all that is wrong with `do`.
    """
    rules = plain(read(scenario).value)["rules"]
    rule: dict[str, Any] = next((rule for rule in rules if rule["name"] == about.rule), {})
    match = {**rule.get("match", {}), "direction": about.direction}
    name = f"key {about.key}"
    if about.key in APIS:
        name = match["api"] = APIS[about.key]
    if about.client_id:
        match["client_id"] = escape(about.client_id)
    new: dict[str, Any] = {"name": f"{name} {about.direction} as at breakpoint {about.id}"}
    new["match"] = match
    new |= {name: rule[name] for name in ("where", "record") if name in rule}
    new |= {"when": {"times": 1, "scope": "rule"}, "do": do}
    try:
        json.dumps(
            do, default=str, ensure_ascii=False
        ).encode()  # YAML writes half a surrogate pair
        text = dump({"version": 1, "rules": [new]})
    except RecursionError:
        raise ScenarioError((NESTED,)) from None
    except UnicodeEncodeError:
        raise ScenarioError(("a text in it has no UTF-8",)) from None
    try:
        loads(text, faults=DECISIONS)
    except ScenarioError as problem:  # its lines are nobody's
        raise ScenarioError(tuple(said.split(": ", 1)[-1] for said in problem.problems)) from None
    return text


def _names(value: Any) -> Iterator[Any]:
    """The names of the faults."""
    for entry in value if isinstance(value, list) else [value]:
        yield from entry if isinstance(entry, dict) else [entry]

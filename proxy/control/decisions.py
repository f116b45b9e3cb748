"""A person's decision about a waiting message, as a scenario of one rule that does the same again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from glob import escape
from typing import Any, Final

from barnabas.captures.kafka.wording import shorten
from barnabas.proxy.connection.breakpoints import HaltedMessage
from barnabas.proxy.control.scenario_edits import EMPTY
from barnabas.proxy.rules.manual_decision import DECISIONS, NAMES
from barnabas.proxy.scenario.errors import ScenarioError
from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.yaml_lines import dump, plain, read
from barnabas.specs import NAMES as APIS

NESTED: Final = "it is nested too deep"


def parse_decision(text: str) -> Any:
    """Return a decision as a rule's `do` (YAML or JSON); None lets the message leave unchanged.

    Raises:
        ScenarioError: The text is invalid, or names a fault that cannot be decided.

    >>> parse_decision('{"drop": {"selective": true}}'), parse_decision("reset"), parse_decision("")
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
            raise ScenarioError(tuple(problem for _, problem in document.problems)) from None
        value = plain(document.value)
    if value in (None, "", [], {}):
        return None
    for name in _names(value):
        if name not in NAMES:
            short = shorten(str(name), 40)
            names = ", ".join(NAMES)
            raise ScenarioError((f"{short!r} is not a decision: give one of {names}, or nothing",))
    return value


def as_scenario(do: Any, message: HaltedMessage, scenario: str = EMPTY) -> str:
    """Return a scenario that does to the next similar message what is done to this one.

    Its rule has the conditions of the breakpoint's rule (of `scenario`), and matches this client alone.

    Raises:
        ScenarioError: `do` is wrong; all problems are listed.
    """
    rules = plain(read(scenario).value)["rules"]
    rule: dict[str, Any] = next((rule for rule in rules if rule["name"] == message.rule), {})
    match = {**rule.get("match", {}), "direction": message.direction}
    name = f"key {message.key}"
    if message.key in APIS:
        name = match["api"] = APIS[message.key]
    if message.client_id:
        match["client_id"] = escape(message.client_id)
    new: dict[str, Any] = {"name": f"{name} {message.direction} as at breakpoint {message.id}"}
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
        raise ScenarioError(("a string in it is not valid UTF-8",)) from None
    try:
        loads(text, faults=DECISIONS)
    except ScenarioError as problem:  # its line numbers mean nothing to the person
        raise ScenarioError(tuple(line.split(": ", 1)[-1] for line in problem.problems)) from None
    return text


def _names(value: Any) -> Iterator[Any]:
    """Yield the names of the faults."""
    for entry in value if isinstance(value, list) else [value]:
        yield from entry if isinstance(entry, dict) else [entry]

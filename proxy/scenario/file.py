"""Reading scenario files: all that is wrong with one is said at once, with its lines."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.scenario.errors import ScenarioError, explain
from barnabas.proxy.scenario.model import Scenario
from barnabas.proxy.scenario.yaml_lines import MAX_BYTES, TOO_LONG, Document, read
from barnabas.specs.dialects import Dialect, dialect
from barnabas.trouble import Trouble

__all__ = ["Scenario", "ScenarioError", "examine", "load", "loads", "text_of"]


def load(path: Path, faults: tuple[Fault, ...] = FAULTS) -> Scenario:
    """Read a scenario file. Raises ScenarioError with every problem in it, OSError."""
    return loads(text_of(path), path.name, faults)


def text_of(path: Path) -> str:
    """A file's text, or a pipe's; a writer that is not there is not waited for.

    Raises ScenarioError for one that is too long or not UTF-8, OSError.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        os.set_blocking(file.fileno(), True)
        found = file.read(MAX_BYTES + 1)
    if len(found) > MAX_BYTES:
        raise ScenarioError((f"{path.name}:1: {TOO_LONG}",))
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = found[: error.start].count(b"\n") + 1
        raise ScenarioError((f"{path.name}:{line}: the file is not UTF-8",)) from None


def loads(text: str, name: str = "scenario", faults: tuple[Fault, ...] = FAULTS) -> Scenario:
    """Read a scenario. Raises ScenarioError with every problem in it; `name` stands in front.

    >>> loads("version: 1\\nrules: [{name: cut, do: close}]").rules[0].do[0].name
    'close'
    """
    found = examine(text, faults)
    if isinstance(found, Scenario):
        return found
    raise ScenarioError(tuple(f"{name}:{line}: {said}" for line, said in found))


def examine(text: str, faults: tuple[Fault, ...] = FAULTS) -> Scenario | list[tuple[int, str]]:
    """Read a scenario, or say every problem in it with its line.

    >>> examine("version: 1\\nrules: [{name: cut, do: clos}]")
    [(2, "unknown fault 'clos' in do; did you mean 'close'?")]
    """
    document = read(text)
    problems = list(document.problems)
    if not document.broken:
        problems += _same_names(document)
        try:
            context = {"faults": faults, "dialect": _dialect(document)}
            scenario = Scenario.model_validate(document.value, context=context)
        except ValidationError as error:
            problems += explain(error, document, Scenario, faults)
        else:
            if not problems:
                scenario._source = text
                return scenario
    return sorted(dict.fromkeys(problems), key=lambda problem: problem[0])


def _dialect(document: Document) -> Dialect | None:
    """Return the dialect that a document names; None for an unusable one, which the validation reports."""
    name = document.value.get("dialect") if isinstance(document.value, dict) else None
    try:
        return dialect(name) if isinstance(name, str) else None
    except (LookupError, Trouble):
        return None


def _same_names(document: Document) -> list[tuple[int, str]]:
    rules = document.value.get("rules") if isinstance(document.value, dict) else None
    problems = []
    first: dict[str, int] = {}
    for place, rule in enumerate(rules if isinstance(rules, tuple) else ()):
        name = rule.get("name") if isinstance(rule, dict) else None
        if not isinstance(name, str):
            continue
        line = document.line(("rules", place, "name"))
        if name in first:
            text = f"two rules are called {name!r}; the other one in line {first[name]}"
            problems.append((line, text))
        first.setdefault(name, line)
    return problems

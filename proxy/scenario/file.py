"""Reads scenario files and reports all problems of a file at once, with their lines."""

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
    """Read a scenario file.

    Raises:
        ScenarioError: The file is invalid; all problems are listed.
        OSError: The file cannot be read.
    """
    return loads(text_of(path), path.name, faults)


def text_of(path: Path) -> str:
    """Return the text of a file or pipe, without waiting for a missing writer.

    Raises:
        ScenarioError: The file is too long, or not UTF-8.
        OSError: The file cannot be read.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        os.set_blocking(file.fileno(), True)
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ScenarioError((f"{path.name}:1: {TOO_LONG}",))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ScenarioError((f"{path.name}:{line}: the file is not UTF-8",)) from None


def loads(text: str, name: str = "scenario", faults: tuple[Fault, ...] = FAULTS) -> Scenario:
    r"""Read a scenario from a text; each problem begins with `name` and its line.

    Raises:
        ScenarioError: The text is invalid; all problems are listed.

    >>> loads("version: 1\nrules: [{name: cut, do: close}]").rules[0].do[0].name
    'close'
    """
    scenario = examine(text, faults)
    if isinstance(scenario, Scenario):
        return scenario
    raise ScenarioError(tuple(f"{name}:{line}: {problem}" for line, problem in scenario))


def examine(text: str, faults: tuple[Fault, ...] = FAULTS) -> Scenario | list[tuple[int, str]]:
    r"""Return the scenario of a text, or all problems with their lines.

    >>> examine("version: 1\nrules: [{name: cut, do: clos}]")
    [(2, "unknown fault 'clos' in do; did you mean 'close'?")]
    """
    document = read(text)
    problems = list(document.problems)
    if not document.broken:
        problems += _duplicate_names(document)
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


def _duplicate_names(document: Document) -> list[tuple[int, str]]:
    rules = document.value.get("rules") if isinstance(document.value, dict) else None
    problems = []
    first: dict[str, int] = {}
    for index, rule in enumerate(rules if isinstance(rules, tuple) else ()):
        name = rule.get("name") if isinstance(rule, dict) else None
        if not isinstance(name, str):
            continue
        line = document.line(("rules", index, "name"))
        if name in first:
            text = f"two rules are called {name!r}; the other one in line {first[name]}"
            problems.append((line, text))
        first.setdefault(name, line)
    return problems

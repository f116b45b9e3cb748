"""Scenarios that a command line names: a file, or a ready one by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.proxy.faults import Fault
    from barnabas.proxy.scenario.file import Scenario

T = TypeVar("T")


def scenario_file(name_or_path: Path) -> Path:
    """Return the file of a scenario, given by its path or by the name of a ready one. Raises Trouble."""
    from barnabas.experiments.library import find

    try:
        return find(name_or_path)
    except LookupError as problem:
        raise Trouble(f"can't read the scenario: {problem.args[0]}") from None


def read_scenario(path: Path, faults: tuple[Fault, ...]) -> Scenario:
    """Load a scenario by path or name. faults: The faults that it may name. Raises Trouble."""
    from barnabas.proxy.scenario.file import load

    return _read(path, lambda file: load(file, faults))


def scenario_text(path: Path) -> str:
    """Return the text of a scenario by path or name. Raises Trouble."""
    from barnabas.proxy.scenario.file import text_of

    return _read(path, text_of)


def _read(name_or_path: Path, reader: Callable[[Path], T]) -> T:
    from barnabas.proxy.scenario.file import ScenarioError

    path = scenario_file(name_or_path)
    try:
        return reader(path)
    except ScenarioError as problem:
        raise Trouble(str(problem)) from None
    except OSError as problem:
        raise Trouble(f"can't read the scenario {path}: {problem.strerror}") from None

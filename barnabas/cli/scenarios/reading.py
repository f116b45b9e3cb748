"""Scenarios that are named on a command line: a file, or one of ours by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.proxy.faults import Fault
    from barnabas.proxy.scenario.file import Scenario

T = TypeVar("T")


def scenario_file(given: Path) -> Path:
    """The file of a scenario that is given by path, or by name if it is one of ours. Raises Trouble."""
    from barnabas.experiments.library import find

    try:
        return find(given)
    except LookupError as problem:
        raise Trouble(f"can't read the scenario: {problem.args[0]}") from None


def read_scenario(path: Path, faults: tuple[Fault, ...]) -> Scenario:
    """A scenario, by path or name, that may name these faults. Raises Trouble."""
    from barnabas.proxy.scenario.file import load

    return _read(path, lambda file: load(file, faults))


def scenario_text(path: Path) -> str:
    """A scenario as it is written, by path or name. Raises Trouble."""
    from barnabas.proxy.scenario.file import text_of

    return _read(path, text_of)


def _read(given: Path, reader: Callable[[Path], T]) -> T:
    from barnabas.proxy.scenario.file import ScenarioError

    path = scenario_file(given)
    try:
        return reader(path)
    except ScenarioError as problem:
        raise Trouble(str(problem)) from None
    except OSError as problem:
        raise Trouble(f"can't read the scenario {path}: {problem.strerror}") from None

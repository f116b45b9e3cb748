"""Scenarios that are named on a command line: a file, or one of ours by its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.proxy.faults import Fault
    from barnabas.proxy.scenario.file import Scenario


def scenario_file(given: Path) -> Path:
    """The file of a scenario that is given by path, or by name if it is one of ours. Raises Trouble."""
    from barnabas.experiments.library import find

    try:
        return find(given)
    except LookupError as problem:
        raise Trouble(f"can't read the scenario: {problem.args[0]}") from None


def read_scenario(path: Path, faults: tuple[Fault, ...]) -> Scenario:
    """A scenario, by path or name, that may name these faults. Raises Trouble."""
    from barnabas.proxy.scenario.file import ScenarioError, load

    path = scenario_file(path)
    try:
        return load(path, faults)
    except ScenarioError as problem:
        raise Trouble(str(problem)) from None
    except OSError as problem:
        raise Trouble(f"can't read the scenario {path}: {problem.strerror}") from None

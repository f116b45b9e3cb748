"""Bugs put into a peer on purpose: a model test that does not find them is worth nothing.

A mutant is one replacement in the source of a module. Functions stay the same objects and get another
code until the `with` ends, so whoever has imported them has the bug.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import Phase, settings

from barnabas.specs.malformed import Malformed
from tests.designs.models import SETTINGS, Machine, explore

FOUND: Final = (AssertionError, LookupError, Malformed)
"""How a bug shows: a promise that was broken, or a peer that falls over something."""


class Mutant(NamedTuple):
    """What goes wrong with it, where, and which words of the source become which."""

    what: str
    module: ModuleType
    before: str
    after: str


@contextlib.contextmanager
def mutated(mutant: Mutant) -> Iterator[None]:
    """The bug is there. Raises LookupError if the source does not have these words once."""
    source = inspect.getsource(mutant.module)
    if source.count(mutant.before) != 1:
        raise LookupError(f"{mutant.what}: the source has other words by now")
    made = {"__name__": mutant.module.__name__}
    changed = source.replace(mutant.before, mutant.after)
    exec(compile(changed, mutant.module.__file__ or "", "exec"), made)
    new, old = (
        dict(_functions(made, made["__name__"])),
        dict(_functions(vars(mutant.module), mutant.module.__name__)),
    )
    codes = {name: function.__code__ for name, function in old.items()}
    for name, function in old.items():
        function.__code__ = new[name].__code__
    try:
        yield
    finally:
        for name, function in old.items():
            function.__code__ = codes[name]


def _functions(names: dict[str, Any], module: str) -> Iterator[tuple[str, FunctionType]]:
    """The functions that are written in a module, those of its classes too."""
    for name, value in names.items():
        if getattr(value, "__module__", "") != module:
            continue
        for part, inner in vars(value).items() if isinstance(value, type) else ((name, value),):
            found = inner.fget if isinstance(inner, property) else inner
            made = part.startswith("__")  # those of dataclasses are not written there
            if isinstance(found, FunctionType) and found.__module__ == module and not made:
                yield f"{name}.{part}", found


def assert_caught(mutant: Mutant, machine: Machine, endings: Iterable[str]) -> None:
    """The model test finds the bug with the examples that it has; the search is the same each time."""
    budget = settings(
        SETTINGS,
        phases=(Phase.generate,),
        derandomize=True,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
    )

    def all_of_them() -> None:
        for ending in endings:
            explore(machine, ending, budget)

    with mutated(mutant), pytest.raises(FOUND):
        all_of_them()

"""Bugs put into a peer on purpose: a model test that does not find them is worth nothing.

A mutant is one replacement in the source of a module. Functions stay the same objects and get another
code until the `with` ends, so whoever has imported them has the bug.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Final, NamedTuple

import pytest
from hypothesis import Phase, settings

from barnabas.specs.malformed import Malformed
from tests.designs.group_machine import SETTINGS, Machine, explore
from tests.mutation.code_swap import code_of, functions_of

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
    source, file = inspect.getsource(mutant.module), mutant.module.__file__ or ""
    if source.count(mutant.before) != 1:
        raise LookupError(f"{mutant.what}: the source has other words by now")
    changed = source.replace(mutant.before, mutant.after)
    before = [
        (found, found.__code__)
        for found in functions_of(file)
        if "<" not in found.__code__.co_qualname  # inner ones come with those around them
    ]
    try:
        for found, code in before:
            found.__code__ = code_of(changed, file, code.co_qualname)
        yield
    finally:
        for found, code in before:
            found.__code__ = code


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

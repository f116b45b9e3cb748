"""Plug-ins of installed packages: entry points of `barnabas.GROUP`, each a reference `module:NAME`.

A group is looked up when it is first used, and a module is imported when its name is.
"""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeVar

from barnabas.trouble import COULD_NOT_RUN, Trouble

K = TypeVar("K")
V = TypeVar("V")

PluginGroup = Literal["dialects", "brokers", "peers", "experiments"]
"""Protocols (`barnabas.specs.dialects`), kinds for `peers start`, commands of `peers`, experiments."""

_AND: Final = " and "
"""Between the references of a name that several packages register."""


@functools.cache
def references(group: PluginGroup) -> dict[str, str]:
    """Return the references that installed packages register in a group, by name, sorted.

    If packages register different objects under one name, `load` refuses its reference.

    Raises:
        Trouble: The entry points of a package are unreadable.
    """
    from importlib.metadata import (
        entry_points,
    )  # this import takes half the time of `barnabas --help`

    try:
        entries = sorted(entry_points(group=f"barnabas.{group}"))
    except Exception as problem:  # noqa: BLE001 - an entry_points.txt may have anything
        raise Trouble(f"an installed package has broken entry points: {_text(problem)}") from None
    references_by_name: dict[str, str] = {}
    for entry in entries:
        if entry.value not in references_by_name.setdefault(entry.name, entry.value).split(_AND):
            references_by_name[entry.name] += _AND + entry.value
    return references_by_name


def load(who: str, reference: str) -> Any:
    """Import the object of a reference `module:NAME`. who: The user of the object, for error messages.

    Raises:
        Trouble: The module can't be imported or lacks the name, or several packages register `who`.
    """
    if _AND in reference:
        raise Trouble(f"{who}: packages register {reference}; uninstall all but one")
    module_name, _, name = reference.partition(":")
    if not module_name or not name:
        raise Trouble(f"{who}: {reference!r} is not a reference: write module:NAME")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - a plug-in may raise anything
        raise Trouble(f"{who}: can't import {module_name}: {_text(problem)}") from None
    try:
        return operator.attrgetter(name)(module)
    except AttributeError:
        raise Trouble(f"{who}: {module_name} has no {name}") from None


def usable(keys: Iterable[K], loaded: Callable[[K], V]) -> tuple[dict[K, V], dict[K, str]]:
    """Load the object of each key; return the loaded ones, and the error messages of the others."""
    loaded_by_key: dict[K, V] = {}
    reasons: dict[K, str] = {}
    for key in keys:
        try:
            loaded_by_key[key] = loaded(key)
        except Trouble as trouble:
            reasons[key] = str(trouble)
    return loaded_by_key, reasons


def make(who: str, reference: str, argument: Any) -> Any:
    """Call the class of a reference with an argument, and return the instance.

    Raises:
        Trouble: The class can't be loaded, see `load`, or fails.
    """
    class_ = load(who, reference)
    try:
        return class_(argument)
    except Exception as problem:  # noqa: BLE001 - a plug-in may raise anything
        raise failed(who, reference, problem) from None


def failed(who: str, reference: str, problem: Exception) -> Trouble:
    """Return the error for code of a package that raised an exception."""
    return Trouble(f"{who}: {reference} failed: {_text(problem)}", COULD_NOT_RUN)


def _text(problem: BaseException) -> str:
    return " ".join(f"{type(problem).__name__}: {problem}".split())

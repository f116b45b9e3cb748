"""What installed packages add to barnabas: entry points of `barnabas.GROUP`, each a reference `module:NAME`.

Nothing is looked for before somebody asks for a group, and nothing is imported before its name is asked for.
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
    from importlib.metadata import entry_points  # it takes as long as half of `barnabas --help`

    try:
        entries = sorted(entry_points(group=f"barnabas.{group}"))
    except Exception as problem:  # noqa: BLE001 - whatever stands in somebody's entry_points.txt
        raise Trouble(f"an installed package has broken entry points: {_text(problem)}") from None
    found: dict[str, str] = {}
    for entry in entries:
        if entry.value not in found.setdefault(entry.name, entry.value).split(_AND):
            found[entry.name] += _AND + entry.value
    return found


def load(who: str, reference: str) -> Any:
    """Import the object that a reference `module:NAME` names; `who` asks for it, for messages.

    Raises:
        Trouble: The module can't be imported, or lacks the name; or several packages register `who`.
    """
    if _AND in reference:
        raise Trouble(f"{who}: packages register {reference}; uninstall all but one")
    module_name, _, name = reference.partition(":")
    if not module_name or not name:
        raise Trouble(f"{who}: {reference!r} is no reference; write module:NAME")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - whatever somebody's module does
        raise Trouble(f"{who}: can't import {module_name}: {_text(problem)}") from None
    try:
        return operator.attrgetter(name)(module)
    except AttributeError:
        raise Trouble(f"{who}: {module_name} has no {name}") from None


def usable(keys: Iterable[K], loaded: Callable[[K], V]) -> tuple[dict[K, V], dict[K, str]]:
    """Load what belongs to each key: what could be loaded, and for the other keys the reason in a line."""
    found: dict[K, V] = {}
    reasons: dict[K, str] = {}
    for key in keys:
        try:
            found[key] = loaded(key)
        except Trouble as trouble:
            reasons[key] = str(trouble)
    return found, reasons


def make(who: str, reference: str, argument: Any) -> Any:
    """Return what a class makes of an argument; the class is named as in `load`.

    Raises:
        Trouble: As in `load`, or the class fails.
    """
    made = load(who, reference)
    try:
        return made(argument)
    except Exception as problem:  # noqa: BLE001 - whatever somebody's class does
        raise failed(who, reference, problem) from None


def failed(who: str, reference: str, problem: Exception) -> Trouble:
    """Return the trouble with code of a package that raised an exception."""
    return Trouble(f"{who}: {reference} failed: {_text(problem)}", COULD_NOT_RUN)


def _text(problem: BaseException) -> str:
    return " ".join(f"{type(problem).__name__}: {problem}".split())

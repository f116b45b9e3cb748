"""What installed packages add to barnabas: entry points of `barnabas.GROUP`, each a reference `module:NAME`.

Nothing is looked for before somebody asks for a group, and nothing is imported before its name is asked for.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any, Literal

from barnabas.trouble import Trouble

PluginGroup = Literal["dialects", "brokers", "peers", "experiments"]
"""Protocols (`barnabas.specs.dialects`), kinds for `peers start`, commands of `peers`, experiments."""


@functools.cache
def references(group: PluginGroup) -> dict[str, str]:
    """Return the references that installed packages register in a group, by name, sorted.

    Raises:
        Trouble: Two packages register different objects under one name.
    """
    from importlib.metadata import entry_points  # it takes as long as half of `barnabas --help`

    found: dict[str, str] = {}
    for entry in sorted(entry_points(group=f"barnabas.{group}"), key=lambda each: each.name):
        if found.setdefault(entry.name, entry.value) != entry.value:
            raise Trouble(
                f"two packages register {entry.name} in barnabas.{group}: "
                f"{found[entry.name]} and {entry.value}; uninstall one"
            )
    return found


def load(who: str, reference: str) -> Any:
    """Import the object that a reference `module:NAME` names; `who` asks for it, for messages.

    Raises:
        Trouble: The module can't be imported, or lacks the name.
    """
    module_name, _, name = reference.partition(":")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - whatever somebody's module does
        text = f"{type(problem).__name__}: {problem}"
        raise Trouble(f"{who}: can't import {module_name}: {text}") from None
    try:
        return getattr(module, name)
    except AttributeError:
        raise Trouble(f"{who}: {module_name} has no {name}") from None

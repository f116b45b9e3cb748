"""Plug-ins of the user: a tuple in a module, named on the command line as `module:TUPLE`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from barnabas.plugins import load
from barnabas.trouble import Trouble


def check_names(option: str, kind: str, ours: Iterable[str], theirs: Iterable[str]) -> None:
    """Raise Trouble for a name that exists already.

    Args:
        option: The option with its value, for the message.
        kind: The kind of things that are named.
        ours: The names of the built-in ones.
        theirs: The names of the user's.
    """
    owners = dict.fromkeys(ours, "a built-in")
    for name in theirs:
        if whose := owners.get(name):
            raise Trouble(f"{option}: {name!r} is also the name of {whose} {kind}")
        owners[name] = "an earlier"


def own_tuple(option: str, name: str) -> tuple[Any, ...]:
    """Return the tuple that an option names. Raises Trouble.

    The module is searched on Python's path and in the current directory.
    """
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        example = option.removeprefix("--").upper()
        raise Trouble(
            f"{option} {name}: write module:TUPLE, e.g. mine:{example} for {example} in mine.py"
        )
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        value = load(f"{option} {name}", name)
    finally:
        sys.path.remove(here)
    if not isinstance(value, tuple):
        raise Trouble(f"{option} {name}: {module_name} has no tuple called {attribute}")
    return value

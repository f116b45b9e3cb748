"""What a user brings: a tuple in a module of theirs, named on the command line as `module:TUPLE`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from barnabas.plugins import load
from barnabas.trouble import Trouble


def check_names(option: str, kind: str, ours: Iterable[str], theirs: Iterable[str]) -> None:
    """Raises Trouble for a name that is taken; `option` is what was written, `kind` what is named."""
    known = dict.fromkeys(ours, "of ours")
    for name in theirs:
        if whose := known.get(name):
            raise Trouble(f"{option}: {name!r} is the name of a {kind} {whose}")
        known[name] = "before it"


def own_tuple(option: str, name: str) -> tuple[Any, ...]:
    """The tuple of that name; `option` is the one that names it, for messages.

    The module is looked for where Python looks, and in the present directory. Raises Trouble.
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
        found = load(f"{option} {name}", name)
    finally:
        sys.path.remove(here)
    if not isinstance(found, tuple):
        raise Trouble(f"{option} {name}: {module_name} has no tuple called {attribute}")
    return found

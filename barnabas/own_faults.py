"""Faults of one's own, named on the command line as `module:TUPLE`."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

from pydantic import BaseModel

from barnabas.trouble import Trouble
from proxy.faults import FAULTS, Fault


def own_faults(name: str | None) -> tuple[Fault, ...]:
    """Ours, and those of a tuple such as `proxy.faults.FAULTS` in a module of the user's.

    The module is looked for where Python looks, and in the present directory. Raises Trouble.
    """
    if name is None:
        return FAULTS
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise Trouble(
            f"--faults {name}: write module:TUPLE, e.g. mine:FAULTS for FAULTS in mine.py"
        )
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except Exception as problem:  # noqa: BLE001 - whatever the user's module does
        text = f"{type(problem).__name__}: {problem}"
        raise Trouble(f"--faults {name}: can't import {module_name}: {text}") from None
    finally:
        sys.path.remove(here)
    found = getattr(module, attribute, None)
    if not isinstance(found, tuple):
        raise Trouble(f"--faults {name}: {module_name} has no tuple called {attribute}")
    for entry in found:
        _check(name, entry)
    known = {fault[0] for fault in FAULTS}
    taken = [entry[0] for entry in found if entry[0] in known]
    if taken:
        raise Trouble(f"--faults {name}: {taken[0]!r} is the name of a fault of ours")
    return (*FAULTS, *found)


def _check(name: str, entry: object) -> None:
    match entry:
        case (str(), model, act) if (
            inspect.isclass(model) and issubclass(model, BaseModel) and callable(act)
        ):
            return
    raise Trouble(f"--faults {name}: {entry!r} is not (name, settings model, function)")

"""Faults of one's own, named on the command line as `module:TUPLE`."""

from __future__ import annotations

import inspect

from pydantic import BaseModel

from barnabas.cli.plugins.tuples import own_tuple
from barnabas.proxy.faults import FAULTS, Fault, PerConnection, PerRule
from barnabas.trouble import Trouble


def own_faults(name: str | None) -> tuple[Fault, ...]:
    """Ours, and those of a tuple such as `barnabas.proxy.faults.FAULTS` in a module of the user's.

    See `own_tuple`. Raises Trouble.
    """
    if name is None:
        return FAULTS
    found = own_tuple("--faults", name)
    for entry in found:
        _check(name, entry)
    known = {fault[0] for fault in FAULTS}
    taken = [entry[0] for entry in found if entry[0] in known]
    if taken:
        raise Trouble(f"--faults {name}: {taken[0]!r} is the name of a fault of ours")
    return (*FAULTS, *found)


def _check(name: str, entry: object) -> None:
    match entry:
        case (str(), model, act) | (str(), model, act, PerRule() | PerConnection()) if (
            inspect.isclass(model) and issubclass(model, BaseModel) and callable(act)
        ):
            return
    raise Trouble(
        f"--faults {name}: {entry!r} is not (name, settings model, function), "
        "with PerRule(...) or PerConnection(...) behind it if it keeps a state"
    )

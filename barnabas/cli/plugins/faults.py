"""Faults of the user, named on the command line as `module:TUPLE`."""

from __future__ import annotations

import inspect

from pydantic import BaseModel

from barnabas.cli.plugins.tuples import check_names, own_tuple
from barnabas.plural import plural
from barnabas.proxy.faults import FAULTS, Fault, PerConnection, PerRule
from barnabas.trouble import Trouble


def own_faults(name: str | None) -> tuple[Fault, ...]:
    """Return the built-in faults and those in a user's module.

    name: A tuple such as `barnabas.proxy.faults.FAULTS`, written module:TUPLE; see `own_tuple`. Raises
    Trouble.
    """
    if name is None:
        return FAULTS
    added = own_tuple("--faults", name)
    for entry in added:
        _check(name, entry)
    ours, theirs = ([fault[0] for fault in some] for some in (FAULTS, added))
    check_names(f"--faults {name}", "fault", ours, theirs)
    return (*FAULTS, *added)


def _check(name: str, entry: object) -> None:
    match entry:
        case (str(called), model, act) if _settings(model):
            _check_takes(f"--faults {name}: the function of {called!r}", act, 3)
            return
        case (str(called), model, act, PerRule(new) | PerConnection(new)) if _settings(model):
            _check_takes(f"--faults {name}: the function of {called!r}", act, 4)
            _check_takes(f"--faults {name}: the state factory of {called!r}", new, 0)
            return
    raise Trouble(
        f"--faults {name}: {entry!r} is not (name, settings model, function), "
        "with PerRule(...) or PerConnection(...) as a fourth item if the fault keeps state"
    )


def _settings(model: object) -> bool:
    return inspect.isclass(model) and issubclass(model, BaseModel)


def _check_takes(label: str, function: object, count: int) -> None:
    """Raise Trouble if the signature of a function does not take `count` arguments."""
    if not callable(function):
        raise Trouble(f"{label} is not a function")
    try:
        inspect.signature(function).bind(*range(count))
    except ValueError:  # some built-in functions have no signature
        return
    except TypeError:
        raise Trouble(f"{label} must take {plural(count, 'argument')}") from None

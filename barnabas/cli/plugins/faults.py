"""Faults of one's own, named on the command line as `module:TUPLE`."""

from __future__ import annotations

import inspect

from pydantic import BaseModel

from barnabas.cli.plugins.tuples import check_names, own_tuple
from barnabas.plural import plural
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
    ours, theirs = ([fault[0] for fault in some] for some in (FAULTS, found))
    check_names(f"--faults {name}", "fault", ours, theirs)
    return (*FAULTS, *found)


def _check(name: str, entry: object) -> None:
    match entry:
        case (str(called), model, act) if _settings(model):
            _check_takes(f"--faults {name}: the function of {called!r}", act, 3)
            return
        case (str(called), model, act, PerRule(new) | PerConnection(new)) if _settings(model):
            _check_takes(f"--faults {name}: the function of {called!r}", act, 4)
            _check_takes(f"--faults {name}: what makes the state of {called!r}", new, 0)
            return
    raise Trouble(
        f"--faults {name}: {entry!r} is not (name, settings model, function), "
        "with PerRule(...) or PerConnection(...) behind it if it keeps a state"
    )


def _settings(model: object) -> bool:
    return inspect.isclass(model) and issubclass(model, BaseModel)


def _check_takes(what: str, function: object, count: int) -> None:
    """Whether it can be called with so many arguments, as far as Python knows."""
    if not callable(function):
        raise Trouble(f"{what} is no function")
    try:
        inspect.signature(function).bind(*range(count))
    except ValueError:  # some of Python's own functions do not say
        return
    except TypeError:
        raise Trouble(f"{what} must take {plural(count, 'argument')}") from None

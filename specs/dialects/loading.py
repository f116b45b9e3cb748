"""The dialects that installed packages register, as entry points of `barnabas.dialects`."""

from __future__ import annotations

import functools

from barnabas.nearest import choices
from barnabas.plugins import load, references
from barnabas.specs.dialects.dialect import LAST_NUMBER, Dialect
from barnabas.trouble import Trouble


def names() -> list[str]:
    """Return the names of all dialects, sorted. No dialect is imported."""
    return list(references("dialects"))


def dialect(name: str) -> Dialect:
    """Return a dialect by its name, in any case.

    Raises:
        LookupError: No dialect has the name; the message has the nearest one.
        Trouble: What is registered under the name is unusable.
    """
    by_name = {known.lower(): known for known in names()}
    if name.lower() not in by_name:
        raise LookupError(f"no dialect is called {name!r}{choices(name, names())}")
    return _load(by_name[name.lower()])


@functools.cache
def dialects() -> tuple[Dialect, ...]:
    """Return all dialects, by number.

    Raises:
        Trouble: Two of them have one number, or one is unusable.
    """
    found: dict[int, Dialect] = {}
    for each in map(_load, names()):
        other = found.setdefault(each.number, each)
        if other is not each:
            raise Trouble(f"dialects {other.name} and {each.name} both have number {each.number}")
    return tuple(found[number] for number in sorted(found))


@functools.cache
def _load(name: str) -> Dialect:
    found = load(f"dialect {name}", references("dialects")[name])
    if not isinstance(found, Dialect):
        raise Trouble(f"dialect {name}: {found!r} is no barnabas.specs.dialects.Dialect")
    if found.name != name:
        raise Trouble(f"dialect {name}: it is registered under this name, and called {found.name}")
    if not 1 <= found.number <= LAST_NUMBER:
        raise Trouble(f"dialect {name}: its number is {found.number}; use 1 to {LAST_NUMBER}")
    return found

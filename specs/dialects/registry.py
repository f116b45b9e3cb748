"""The dialects that installed packages register, as entry points of `barnabas.dialects`."""

from __future__ import annotations

import functools

from barnabas.nearest import choices
from barnabas.plugins import load, references, usable
from barnabas.specs.dialects.dialect import Dialect
from barnabas.trouble import Trouble


def names() -> list[str]:
    """Return the names of all dialects, sorted. No dialect is imported."""
    return list(references("dialects"))


def dialect(name: str) -> Dialect:
    """Return a dialect by its name, in any case.

    Raises:
        LookupError: No dialect has the name; the message has the nearest one.
        Trouble: The object that is registered under the name is unusable.
    """
    by_name = {registered.lower(): registered for registered in names()}
    if name.lower() not in by_name:
        raise LookupError(f"no dialect is called {name!r}{choices(name, names())}")
    loaded = _registered()[by_name[name.lower()]]
    if isinstance(loaded, str):
        raise Trouble(loaded)
    return loaded


@functools.cache
def dialects() -> tuple[Dialect, ...]:
    """Return all usable dialects, by number; `problems` returns the reasons for the others."""
    usable = (each for each in _registered().values() if not isinstance(each, str))
    return tuple(sorted(usable, key=lambda each: each.number))


def problems() -> list[str]:
    """Return a line for each unusable dialect, with the reason."""
    lines = (each for each in _registered().values() if isinstance(each, str))
    return list(dict.fromkeys(lines))


@functools.cache
def _registered() -> dict[str, Dialect | str]:
    """Import all dialects and return each by its name, or the reason why it is unusable."""
    loaded, reasons = usable(names(), _load)
    by_name: dict[str, Dialect | str] = {**loaded, **reasons}
    by_number: dict[int, list[str]] = {}
    for name, each in loaded.items():
        by_number.setdefault(each.number, []).append(name)
    for number, sharing in by_number.items():
        if len(sharing) > 1:
            line = (
                f"dialects {' and '.join(sharing)} have the number {number}; uninstall all but one"
            )
            by_name |= dict.fromkeys(sharing, line)
    return by_name


def _load(name: str) -> Dialect:
    reference = references("dialects")[name]
    loaded = load(f"dialect {name}", reference)
    if not isinstance(loaded, Dialect):
        raise Trouble(f"dialect {name}: {reference} is not a barnabas.specs.dialects.Dialect")
    if loaded.name != name:
        raise Trouble(f"dialect {name}: it is registered under this name, and called {loaded.name}")
    return loaded

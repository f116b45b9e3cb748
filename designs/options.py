"""Settings by the names that a document gives to its options.

A field of a settings dataclass says in its metadata how the document calls it (`option`), and how its
value is read of what was configured (`read`), if it is no whole number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from barnabas.captures.host_port import address_in

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Settings = TypeVar("Settings", bound="DataclassInstance")


def from_options(
    settings: type[Settings], options: Mapping[str, object], **others: Any
) -> Settings:
    """Settings by a document's names; others: the fields for which it has none, by ours.

    Raises ValueError, which says the option: for a name that is none, and for a value that can't be.
    """
    known = {one.metadata["option"]: one for one in fields(settings) if "option" in one.metadata}
    values = {}
    for name, value in options.items():
        if name not in known:
            raise ValueError(f"{name}: no option; there are {', '.join(known)}")
        try:
            values[known[name].name] = known[name].metadata.get("read", whole)(value)
        except ValueError as problem:
            raise ValueError(f"{name}: {problem}") from None
    return settings(**values, **others)


def whole(value: object) -> int:
    """A whole number, or the text of one. Raises ValueError.

    >>> whole("6000")
    6000
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str) or not value.strip().removeprefix("-").isdecimal():
        raise ValueError(f"{value!r} is no whole number")
    return int(value)


def addresses(value: object) -> tuple[tuple[str, int], ...]:
    """Hosts and ports, separated by commas. Raises ValueError.

    >>> addresses("one:9092, [::1]:9093")
    (('one', 9092), ('::1', 9093))
    """
    found = []
    for text in str(value).split(","):
        address = address_in(text.strip())
        if address is None:
            raise ValueError(f"{text.strip()!r} is no host:port, e.g. localhost:9092")
        found.append(address)
    return tuple(found)

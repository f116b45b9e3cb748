"""Settings by the names of a document's options.

The metadata of a settings dataclass's field has the document's name (`option`), and a function that reads its
value from the configuration (`read`), unless it is a whole number.
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
    """Make settings from a document's options. others: fields without such a name.

    Raises ValueError, which names the option, for an unknown name or an invalid value.
    """
    known = {
        each.metadata["option"]: each for each in fields(settings) if "option" in each.metadata
    }
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
    """Read a whole number, or the text of one. Raises ValueError.

    >>> whole("6000")
    6000
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str) or not value.strip().removeprefix("-").isdecimal():
        raise ValueError(f"{value!r} is not a whole number")
    return int(value)


def addresses(value: object) -> tuple[tuple[str, int], ...]:
    """Read hosts and ports, separated by commas. Raises ValueError.

    >>> addresses("one:9092, [::1]:9093")
    (('one', 9092), ('::1', 9093))
    """
    read = []
    for text in str(value).split(","):
        address = address_in(text.strip())
        if address is None:
            raise ValueError(f"{text.strip()!r} is not host:port, e.g. localhost:9092")
        read.append(address)
    return tuple(read)

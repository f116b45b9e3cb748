"""The state of the streaming job as text: values of the reader's classes, and nothing else.

It is JSON: a list of rows, each an object after those that it refers to. A row is the name of a type and the
parts of an object: numbers, texts, true, false and null literally, `[N]` for the object of row N. An object
with several references is one row, so that it is shared again. A name that is not in the tables of this
module is rejected: reading a state imports nothing and calls nothing that the state names.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from types import MethodType, ModuleType
from typing import Any, Final
from uuid import UUID

from barnabas.captures import section
from barnabas.captures.files import capture_folder
from barnabas.captures.kafka import context, conversations, exchange, sasl
from barnabas.captures.kafka.context import brokers, groups, members, memory, sessions
from barnabas.captures.kafka.framing import (
    flow_framings,
    frame_resync,
    lone_responses,
    protocol_detection,
    stream_framing,
)
from barnabas.captures.kafka.pairing import conversation, exchange_builder, fast_pairing, in_flight
from barnabas.captures.kafka.pairing.in_flight import Pairing
from barnabas.captures.tcp import (
    bytes_needed,
    events,
    flow,
    fragments,
    half,
    headers,
    initial_sequence,
    mid_stream,
    packets,
    reassembly,
)
from barnabas.captures.tls import decryption, keylog
from barnabas.pipeline.reading import event_rows
from barnabas.pipeline.streaming import following, incremental_reader
from barnabas.pipeline.streaming.following import Following

MODULES: Final[tuple[ModuleType, ...]] = (
    *(following, incremental_reader, event_rows, section, capture_folder),
    *(bytes_needed, events, flow, fragments, half, headers, initial_sequence, mid_stream),
    *(packets, reassembly, decryption, keylog),
    *(flow_framings, frame_resync, lone_responses, protocol_detection, stream_framing),
    *(conversations, conversation, exchange_builder, fast_pairing, in_flight, exchange, sasl),
    *(context, brokers, groups, members, memory, sessions),
)
"""Modules whose classes a state may contain."""


def _names(modules: Iterable[ModuleType]) -> dict[str, type]:
    return {
        f"{module.__name__.partition('.')[2]}.{name}": class_
        for module in modules
        for name, class_ in vars(module).items()
        if isinstance(class_, type) and class_.__module__ == module.__name__
    }


_CLASSES: Final = _names(MODULES)
_NAMES: Final = {class_: name for name, class_ in _CLASSES.items()}

_SCALARS: Final = (type(None), bool, int, float, str)
_SEQUENCES: Final = (tuple, list, set, frozenset, deque)
_MAPPINGS: Final = (dict, OrderedDict, Counter)
_PLAIN: Final[dict[str, Callable[[list[Any]], Any]]] = {
    **{kind.__name__: kind for kind in _SEQUENCES},
    **{kind.__name__: lambda parts, kind=kind: kind(_pairs(parts)) for kind in _MAPPINGS},  # type: ignore[misc]
    "bytes": lambda parts: b64decode(parts[0], validate=True),
    "bytearray": lambda parts: bytearray(b64decode(parts[0], validate=True)),
    "UUID": lambda parts: UUID(hex=parts[0]),
    "Path": lambda parts: Path(parts[0]),
    "by_correlation_id": lambda parts: MethodType(Pairing.by_correlation_id, *parts),
}
"""Functions that make other objects from the parts in their rows."""


_HASHED: Final = {"set": 1, "frozenset": 1, "dict": 2, "OrderedDict": 2, "Counter": 2}
"""Types that hash their content: every object, or every second one, which is a key."""

KEY: Final = 1000
"""The most objects in such a key, counted with each reference: Python can't be interrupted while it hashes.
"""


def dump(state: Following) -> bytes:
    """Return a state as text.

    Raises:
        TypeError: An object is no value of the known classes.
        RecursionError: Objects refer to each other in a circle.
    """
    rows: list[list[Any]] = []
    places: dict[int, list[int]] = {}
    written: list[Any] = []
    """Their ids are not given to others meanwhile."""

    def write(value: Any) -> list[int]:
        if id(value) not in places:
            name, parts = _taken_apart(value)
            row: list[Any] = [name, *parts]
            for at, part in enumerate(parts, 1):
                if type(part) not in _SCALARS:
                    row[at] = write(part)
            places[id(value)] = [len(rows)]
            rows.append(row)
            written.append(value)
        return places[id(value)]

    write(state)
    return json.dumps(rows, separators=(",", ":")).encode()


def load(text: bytes) -> Following:
    """Return the state in a text. Raises ValueError for any other text."""
    objects: list[Any] = []
    sizes: list[int] = []
    try:
        for name, *parts in json.loads(text):
            inside = [sizes[part[0]] if type(part) is list else 1 for part in parts]
            if name in _HASHED and any(size > KEY for size in inside[:: _HASHED[name]]):
                raise ValueError("a key of too many objects")
            sizes.append(min(1 + sum(inside), KEY + 1))
            values = [objects[part[0]] if type(part) is list else part for part in parts]
            plain = _PLAIN.get(name)
            objects.append(_object(_CLASSES[name], *values) if plain is None else plain(values))
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as problem:
        raise ValueError(f"no state: {problem!r}") from None
    if not objects or not isinstance(objects[-1], Following):
        raise ValueError("no state")
    return objects[-1]


def _taken_apart(value: Any) -> tuple[str, list[Any]]:
    """Return the name of an object's type, and its parts."""
    kind = type(value)
    if kind in _SEQUENCES:
        return kind.__name__, list(value)
    if kind in _MAPPINGS:
        return kind.__name__, list(chain.from_iterable(value.items()))
    if kind in (bytes, bytearray):
        return kind.__name__, [b64encode(value).decode()]
    if kind is UUID:
        return "UUID", [value.hex]
    if isinstance(value, Path):
        return "Path", [str(value)]
    if kind is MethodType and value.__func__ is Pairing.by_correlation_id:
        return "by_correlation_id", [value.__self__]
    if kind not in _NAMES:
        raise TypeError(f"{kind.__module__}.{kind.__qualname__} is not a value of a state")
    content = next((base(value) for base in (tuple, list, dict) if isinstance(value, base)), None)
    state = value.__getstate__()
    if isinstance(state, tuple):  # of __dict__ and of __slots__
        state = {**(state[0] or {}), **state[1]}
    return _NAMES[kind], [content, *chain.from_iterable((state or {}).items())]


def _object(kind: type, content: Any, *attributes: Any) -> Any:
    """Return an object of one of our classes."""
    result = tuple.__new__(kind, content) if issubclass(kind, tuple) else kind.__new__(kind)
    if isinstance(result, dict):
        dict.update(result, content)
    elif isinstance(result, list):
        list.extend(result, content)
    state = _pairs(attributes)
    if hasattr(result, "__setstate__"):
        result.__setstate__(state)
    else:
        for name, value in state.items():
            object.__setattr__(result, name, value)
    return result


def _pairs(parts: Sequence[Any]) -> dict[Any, Any]:
    return dict(zip(parts[::2], parts[1::2], strict=True))

"""Types for editors and mypy: a TypedDict for each request and response, as `codec.decode` returns them.

The wheel has them as the stub `barnabas/specs/types.pyi`; `python -m barnabas.specs.stubs FILE` writes it
elsewhere. The module does not exist at run time, so import it under TYPE_CHECKING:

     if TYPE_CHECKING:
         from barnabas.specs.types import FetchRequest

     values = cast("FetchRequest", codec.decode(body))
     values["topics"][0]["partitions"]

One tree of types covers all versions of a message: a field that only some versions or releases have is
NotRequired, and its comment names the versions.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from barnabas.specs.declaration import Field, Type
from barnabas.specs.message import Message
from barnabas.specs.registry import REGISTRY, api

PLAIN: Final = {
    "bool": "bool",
    "float64": "float",
    "uuid": "UUID",
    "string": "str",
    "bytes": "bytes",
    "records": "bytes",
}
"""The Python type of each kind; all other kinds are integers."""

HEAD: Final = '''"""The bodies of Kafka's requests and responses as decoded; see barnabas.specs.stubs."""

from typing import NotRequired, TypedDict
from uuid import UUID
'''

Declared = list[tuple[Field, set[int]]]
"""Fields with the versions of the structure around them."""


def text() -> str:
    """Return the source of the stub."""
    messages = [
        message for key, *_ in REGISTRY for message in (api(key).request, api(key).response)
    ]
    return HEAD + "".join(line for message in messages for line in _message(message))


def _message(message: Message) -> Iterator[str]:
    first, last = message.versions
    versions = set(range(first, last + 1))
    declared = [(field, versions) for field in message.fields]
    yield from _struct(message.name, f"{message.name}, {_span(versions)}.", declared, versions)


def _struct(name: str, title: str, declared: Declared, versions: set[int]) -> Iterator[str]:
    """Yield the classes of a structure: those of inner structures first."""
    by_name: dict[str, list[tuple[Type, set[int]]]] = {}
    for field, around in declared:
        present = {v for v in around if field.type.first <= v <= field.type.last}
        by_name.setdefault(field.name, []).append((field.type, present))
    lines = []
    for field_name, kinds in by_name.items():
        inner = name + "".join(part.capitalize() for part in field_name.split("_"))
        somewhere = set().union(*(present for _, present in kinds))
        structs = [(each, present) for kind, present in kinds for each in _innermost(kind).fields]
        if any(_innermost(kind).kind == "struct" for kind, _ in kinds):
            yield from _struct(inner, f"`{field_name}` of {name}.", structs, somewhere)
        null = {version for kind, present in kinds for version in _null(kind, present)}
        types = dict.fromkeys(_type(kind, inner) for kind, _ in kinds)
        annotation = " | ".join([*types, *(["None"] if null else [])])
        always = set().union(*(present for kind, present in kinds if not _of_releases(kind)))
        if always != versions:
            annotation = f"NotRequired[{annotation}]"
        notes = [_span(somewhere)] if somewhere != versions else []
        notes += [f"may be null in {_span(null)}"] if null and null != somewhere else []
        notes += ["some releases only"] if always != somewhere else []
        lines.append(f"    {field_name}: {annotation}\n")
        if notes:
            lines.append(f'    """{"; ".join(notes).capitalize()}."""\n')
    yield f'\nclass {name}(TypedDict):\n    """{title}"""\n\n'
    yield from lines
    yield "    _tags: NotRequired[dict[int, bytes]]\n"


def _null(kind: Type, versions: set[int]) -> set[int]:
    first = kind.nullable_first
    return {v for v in versions if first is not None and first <= v <= kind.nullable_last}


def _of_releases(kind: Type) -> bool:
    return kind.first_release is not None or kind.last_release is not None


def _innermost(kind: Type) -> Type:
    return kind if kind.element is None else _innermost(kind.element)


def _type(kind: Type, struct: str) -> str:
    if kind.element is not None:
        return f"list[{_type(kind.element, struct)}]"
    return struct if kind.kind == "struct" else PLAIN.get(kind.kind, "int")


def _span(versions: set[int]) -> str:
    """Return versions as ranges.

    >>> _span({0, 1, 2, 5}), _span({3})
    ('versions 0-2, 5', 'version 3')
    """
    runs = groupby(enumerate(sorted(versions)), key=lambda numbered: numbered[1] - numbered[0])
    ranges = [[version for _, version in run] for _, run in runs]
    texts = (f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in ranges)
    return f"version{'s' * (len(versions) > 1)} {', '.join(texts)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m barnabas.specs.stubs",
        description="Write the types of all messages as a stub.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="e.g. types.pyi")
    path = parser.parse_args().file
    try:
        path.write_text(text())
    except OSError as problem:
        parser.exit(3, f"can't write {path}: {problem.strerror}\n")

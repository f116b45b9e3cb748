"""The JSON form of bodies (`barnabas.specs.jsonform`), made by a function for each version of a message.

Python source is written for a layout, as for decoders. It names only the fields that JSON has otherwise:
bytes, uuids, tagged fields that nobody knows, secrets, and the structures that these are in. All else is
passed on as it is: what it makes shares that with the body.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from barnabas.specs.codec.codegen import Source
from barnabas.specs.frames import Direction
from barnabas.specs.json_text import number
from barnabas.specs.jsonform import Blob, uuid_text
from barnabas.specs.layout import Layout, Node
from barnabas.specs.registry import NAMES, api
from barnabas.specs.secrets import by_field, secret_paths, withheld

Form = Callable[[dict[str, Any], Blob], dict[str, Any]]
"""Of a decoded body, and how bytes in it are written."""


@lru_cache(4096)
def json_form(key: int, version: int, direction: Direction, tags: bool = True) -> Form:
    """What makes the JSON form of the bodies of a message, secrets redacted. Raises LookupError.

    tags: see `form_of`.

    >>> from barnabas.specs.jsonform import base64_text
    >>> json_form(36, 0, "request")({"auth_bytes": b"hunter2"}, base64_text)
    {'auth_bytes': '<redacted 7 bytes>'}
    """
    layout = api(key).message(direction).layout(version)
    how = "" if tags else " without tags"
    origin = f"JSON form of {NAMES.get(key, key)} {direction} v{version}{how}"
    return form_of(layout, origin, secret_paths(key, direction), tags)


def form_of(layout: Layout, origin: str, secrets: Collection[str] = (), tags: bool = True) -> Form:
    """What makes the JSON form of a layout's values. secrets: the paths of those that are withheld.

    tags: whether to look for tagged fields that nobody knows, of which there may be some in each structure.
    If not, those that are there stay as they are, and `barnabas.specs.json_text.compact` raises TypeError.
    """
    emitter = _FormEmitter(secrets, tags)
    emitter.source.emit(f"return {emitter.struct(layout, 'v', '')}")
    return emitter.source.compile("form(v, blob):", origin)


class _FormEmitter:
    """Makes expressions of expressions; one that stays as it is says that JSON has the value so."""

    def __init__(self, secrets: Collection[str], tags: bool) -> None:
        self._secrets = by_field(secrets)
        self._structs: dict[str, str] = {}
        """By path: the expression of the structure that is being written."""
        self._tags = tags
        self.source = Source(
            "v", "blob", uuid=uuid_text, number=number, withheld=withheld, tags=_tags, none={}
        )

    def struct(self, layout: Layout, value: str, path: str) -> str:
        """Of a structure; the path of the body itself is empty."""
        self._structs[path] = value
        parts = []
        for slot in layout.slots:
            field = f"{value}[{slot.name!r}]"
            made = self._value(slot.node, field, f"{path}.{slot.name}".lstrip("."))
            if made != field:
                parts.append(f"{slot.name!r}: {made}")
        tagged = layout.flexible and self._tags
        if tagged and not parts:
            return f"({value} if '_tags' not in {value} else {value} | tags({value}, blob))"
        if tagged:
            parts.append(f"**(none if '_tags' not in {value} else tags({value}, blob))")
        return f"({value} | {{{', '.join(parts)}}})" if parts else value

    def _value(self, node: Node, value: str, path: str) -> str:
        flag = self._secrets.get(path)
        if flag == "":
            return f"withheld({value})"
        made = self._present(node, value, path)
        if node.nullable and made != value:
            made = f"(None if {value} is None else {made})"
        if flag is None:
            return made
        holder, _, name = flag.rpartition(".")
        return f"(withheld({value}) if {self._structs[holder]}[{name!r}] else {made})"

    def _present(self, node: Node, value: str, path: str) -> str:
        """Of what is not null."""
        match node.kind:
            case "bytes" | "records":
                return f"blob({value})"
            case "uuid":
                return f"uuid({value})"
            case "float64":
                return f"number({value})"
            case "array":
                assert node.element is not None  # noqa: S101
                item = self.source.name(f"{path.rpartition('.')[2]}_item")
                made = self._value(node.element, item, path)
                return value if made == item else f"[{made} for {item} in {value}]"
            case "struct":
                assert node.struct is not None  # noqa: S101
                return self.struct(node.struct, value, path)
        return value


def _tags(value: dict[str, Any], blob: Blob) -> dict[str, Any]:
    """What stands under numbers that nobody knows."""
    return {"_tags": {str(tag): blob(raw) for tag, raw in value["_tags"].items()}}

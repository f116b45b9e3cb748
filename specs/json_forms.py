"""Generated functions that make the JSON form of bodies, one for each version of a message.

`barnabas.specs.jsonform` defines the form. As for decoders, Python source is generated for each layout. It
handles only the fields whose JSON form differs from the decoded value: bytes, uuids, unknown tagged fields,
secrets, and the structures around these. All other values are shared with the decoded body.
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
"""A function of a decoded body and a writer for bytes values."""


@lru_cache(4096)
def json_form(key: int, version: int, direction: Direction, tags: bool = True) -> Form:
    """Return the function that makes the JSON form of a message's bodies, with secrets redacted.

    `tags` says whether to convert unknown tagged fields; see `form_of`. Raises LookupError.

    >>> from barnabas.specs.jsonform import base64_text
    >>> json_form(36, 0, "request")({"auth_bytes": b"hunter2"}, base64_text)
    {'auth_bytes': '<redacted 7 bytes>'}
    """
    layout = api(key).message(direction).layout(version)
    how = "" if tags else " without tags"
    origin = f"JSON form of {NAMES.get(key, key)} {direction} v{version}{how}"
    return form_of(layout, origin, secret_paths(key, direction), tags)


def form_of(layout: Layout, origin: str, secrets: Collection[str] = (), tags: bool = True) -> Form:
    """Return the function that makes the JSON form of a layout's values.

    `secrets` are the paths of fields to withhold, `origin` is a title for tracebacks. `tags` says whether to
    convert unknown tagged fields, which any structure may have. If not, they stay as they are, and
    `barnabas.specs.json_text.compact` raises TypeError for them.
    """
    emitter = _FormEmitter(secrets, tags)
    emitter.source.emit(f"return {emitter.struct(layout, 'v', '')}")
    return emitter.source.compile("form(v, blob):", origin)


class _FormEmitter:
    """A writer of expressions; it returns an expression unchanged if JSON has the same value."""

    def __init__(self, secrets: Collection[str], tags: bool) -> None:
        self._secrets = by_field(secrets)
        self._structs: dict[str, str] = {}
        """The expression of each structure that is being written, by its path."""
        self._tags = tags
        self.source = Source(
            "v", "blob", uuid=uuid_text, number=number, withheld=withheld, tags=_tags, none={}
        )

    def struct(self, layout: Layout, value: str, path: str) -> str:
        """Return the expression of a structure; the body itself has an empty path."""
        self._structs[path] = value
        parts = []
        for slot in layout.slots:
            field = f"{value}[{slot.name!r}]"
            expression = self._value(slot.node, field, f"{path}.{slot.name}".lstrip("."))
            if expression != field:
                parts.append(f"{slot.name!r}: {expression}")
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
        expression = self._present(node, value, path)
        if node.nullable and expression != value:
            expression = f"(None if {value} is None else {expression})"
        if flag is None:
            return expression
        holder, _, name = flag.rpartition(".")
        return f"(withheld({value}) if {self._structs[holder]}[{name!r}] else {expression})"

    def _present(self, node: Node, value: str, path: str) -> str:
        """Return the expression of a value that is not null."""
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
                expression = self._value(node.element, item, path)
                return value if expression == item else f"[{expression} for {item} in {value}]"
            case "struct":
                assert node.struct is not None  # noqa: S101
                return self.struct(node.struct, value, path)
        return value


def _tags(value: dict[str, Any], blob: Blob) -> dict[str, Any]:
    """Return the unknown tagged fields, by number."""
    return {"_tags": {str(tag): blob(raw) for tag, raw in value["_tags"].items()}}

"""Writes decoded bodies as JSON text: Python source for one layout, as for decoders.

The text is what `json.dumps` makes of the form of `specs.jsonform`; without building that, and without
looking for what to escape in base64, which is most of large bodies.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any

from specs.codec.source import Source
from specs.jsonform import uuid_text
from specs.layout import Layout, Node

Path = tuple[str, ...]
"""The names of the fields that lead somewhere, through arrays."""

Write = Callable[[dict[str, Any], Mapping[Any, str]], str]
"""Of a decoded body and the names of topics, by id."""


def json_writer(
    layout: Layout,
    origin: str,
    secrets: Sequence[Path] = (),
    named: Sequence[tuple[Path, str, str]] = (),
) -> Write:
    """A function that writes bodies of a layout.

    secrets: fields of which only the size is said. named: (structure, its field with an id, name of
    the field that is added behind its own, with the id's name or null).

    >>> import specs
    >>> metadata = specs.api("Metadata").request
    >>> json_writer(metadata.layout(1), "it")({"topics": [{"name": "t"}]}, {})
    '{"topics":[{"name":"t"}]}'
    """
    writer = _Writer(set(secrets), {path: (found, name) for path, found, name in named})
    result = writer.struct(layout, "v", ())
    writer.source.emit(f"return {result}")
    return writer.source.compile("write(v, names):", f"json of {origin}")


class _Writer:
    def __init__(self, secrets: set[Path], named: dict[Path, tuple[str, str]]) -> None:
        self._secrets = secrets
        self._named = named
        self.source = Source(
            text=encode_basestring,
            blob=_blob,
            number=_number,
            uuid=_uuid,
            secret=_secret,
            tags=_tags,
        )

    def struct(self, layout: Layout, value: str, path: Path) -> str:
        """The expression of a structure that is in a variable."""
        parts = []
        for slot in layout.slots:
            here = (*path, slot.name)
            inner = self._value(slot.node, f"{value}[{slot.name!r}]", here)
            parts.append(f"'\"{slot.name}\":', {inner}")
        if path in self._named:
            found, name = self._named[path]
            known = f"names.get({value}[{found!r}])"
            parts.append(f"'\"{name}\":', text({known}) if {known} is not None else 'null'")
        body = ", ',', ".join(parts)
        rest = ""
        if layout.flexible:
            rest = f"tags({value}, {bool(parts)}), "
        return f"''.join(('{{', {body + ', ' if body else ''}{rest}'}}'))"

    def _value(self, node: Node, value: str, path: Path) -> str:
        if path in self._secrets:
            return f"secret({value})"
        one = self.source.name("x")
        match node.kind:
            case "string":
                simple = f"text({one})"
            case "bytes" | "records":
                simple = f"blob({one})"
            case "array":
                assert node.element is not None  # noqa: S101
                item = self.source.name("i")
                inner = self._value(node.element, item, path)
                simple = f"'['+','.join([{inner} for {item} in {one}])+']'"
            case "struct":
                assert node.struct is not None  # noqa: S101
                simple = self.struct(node.struct, one, path)
            case "bool":
                return f"('true' if {value} else 'false')"
            case "uuid":
                return f"uuid({value})"
            case "float64":
                return f"number({value})"
            case _:
                return f"str({value})"
        return f"('null' if ({one} := {value}) is None else {simple})"


def _blob(value: bytes) -> str:
    return f'"{b64encode(value).decode()}"'


def _uuid(value: Any) -> str:
    return f'"{uuid_text(value)}"'


def _number(value: float) -> str:
    """Quotas may be NaN or infinite, for which JSON has no number."""
    return repr(value) if math.isfinite(value) else f'"{value}"'


def _secret(value: Any) -> str:
    """As `specs.secrets.redact` has it."""
    match value:
        case None:
            return "null"
        case list():
            return f"[{','.join(map(_secret, value))}]"
        case bytes():
            return f'"<redacted {len(value)} bytes>"'
    return '"<redacted>"'


def _tags(struct: dict[str, Any], behind: bool) -> str:
    """Tagged fields that nobody knows, if there are any."""
    found = struct.get("_tags")
    if found is None:
        return ""
    inner = ",".join(f'"{number}":{_blob(value)}' for number, value in found.items())
    return f'{"," if behind else ""}"_tags":{{{inner}}}'

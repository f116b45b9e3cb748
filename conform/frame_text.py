"""A frame as indented text, with the field that a failure is about marked by an arrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from barnabas.conform.verdicts import Evidence
from barnabas.specs.error_codes import error_name
from barnabas.specs.frames import decode_frame
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import key_of

LONGEST: Final = 100
"""Characters of a value."""

ELEMENTS: Final = 20
"""Elements of an array that are shown."""


MARK: Final = "→"
"""Begins the line of the field that a failure is about."""


def request_lines(evidence: Evidence) -> list[str]:
    """Return the lines of the request."""
    return _lines("request", evidence, evidence.request, "")


def response_lines(evidence: Evidence) -> list[str]:
    """Return the lines of the response; none if there is no response."""
    if evidence.response is None:
        return []
    return _lines("response", evidence, evidence.response, evidence.path)


def _lines(direction: Any, evidence: Evidence, frame: bytes, marked: str) -> list[str]:
    if not evidence.api:
        return [f"{direction}, {len(frame)} bytes", f"  {_shortened(frame.hex(' '))}"]
    head = f"{evidence.api} v{evidence.version} {direction}, {len(frame)} bytes"
    try:
        key = key_of(evidence.api)
        decoded = decode_frame(frame, direction, key=key, version=evidence.version)
    except (Malformed, LookupError) as problem:
        return [head, f"  undecodable: {problem}", f"  {_shortened(frame.hex(' '))}"]
    return [head, *_fields(decoded.body, "", marked, 1)]


def _fields(value: Any, path: str, marked: str, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        items = [
            (f"{path}.{name}" if path else str(name), str(name), item)
            for name, item in value.items()
        ]
    else:
        items = [
            (f"{path}[{index}]", f"[{index}]", item) for index, item in enumerate(value[:ELEMENTS])
        ]
    for inner, name, item in items:
        arrow = MARK if inner == marked else " "
        nested = isinstance(item, Mapping | list) and bool(item)
        text = "" if nested else f" {_shown(name, item)}"
        yield f"{arrow} {'  ' * (depth - 1)}{name}:{text}"
        if nested:
            yield from _fields(item, inner, marked, depth + 1)
    if isinstance(value, list) and len(value) > ELEMENTS:
        yield f"  {'  ' * (depth - 1)}... {len(value) - ELEMENTS} more"


def _shown(name: str, value: Any) -> str:
    if name.endswith("error_code") and isinstance(value, int):
        return f"{value} ({error_name(value)})"
    return _shortened(value.hex() if isinstance(value, bytes) else repr(value))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text):,} characters)"

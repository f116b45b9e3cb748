"""The same message in a lower version: fields that it does not have are left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.shrinking.step import Step, closed, opened
from barnabas.specs.frames import Frame
from barnabas.specs.headers import (
    REQUEST_HEADER,
    RESPONSE_HEADER,
    request_header_version,
    response_header_version,
)
from barnabas.specs.layout import Layout
from barnabas.specs.registry import api


def _smaller(recipe: Recipe) -> Iterator[Recipe]:
    seed = recipe.seed
    frame = opened(seed)
    if frame is None:
        return
    message = api(seed.key).message(seed.direction)
    for version in range(api(seed.key).versions[0], seed.version):
        try:
            body = _fitted(frame.body, message.codec(version).layout)
        except LookupError:  # a version that messages in this direction never had
            continue
        lower = closed(
            seed, Frame(seed.direction, seed.key, version, _header(frame, version), body)
        )
        if lower is not None:
            yield recipe._replace(seed=lower)


def _header(frame: Frame, version: int) -> dict[str, Any]:
    header: dict[str, Any] = dict(frame.header)
    if frame.direction == "request":
        header["request_api_version"] = version
        layout = REQUEST_HEADER.codec(request_header_version(frame.key, version)).layout
    else:
        layout = RESPONSE_HEADER.codec(response_header_version(frame.key, version)).layout
    return _fitted(header, layout)


def _fitted(values: dict[str, Any], layout: Layout) -> dict[str, Any]:
    """What a layout has of these values."""
    found: dict[str, Any] = {}
    for slot in layout.slots:
        value, struct = values.get(slot.name), slot.node.struct
        element = slot.node.element
        if slot.name not in values:
            continue
        if isinstance(value, dict) and struct is not None:
            value = _fitted(value, struct)
        elif isinstance(value, list) and element is not None and element.struct is not None:
            value = [_fitted(item, element.struct) for item in value if isinstance(item, dict)]
        elif value is None and not slot.node.nullable:
            continue
        found[slot.name] = value
    return found


VERSIONS: Final = Step("versions", "a lower version of the message", _smaller)

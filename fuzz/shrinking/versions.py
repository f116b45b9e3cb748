"""The same message in a lower version: fields that it does not have are left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.shrinking.messages import closed, opened
from barnabas.specs.frames import Frame
from barnabas.specs.headers import header_codec
from barnabas.specs.registry import api


def lower_versions(recipe: Recipe) -> Iterator[Recipe]:
    """Send the message in each lower version."""
    seed = recipe.seed
    frame = opened(seed)
    if frame is None:
        return
    message = api(seed.key).message(seed.direction)
    for version in range(api(seed.key).versions[0], seed.version):
        try:
            body = message.layout(version).fitted(frame.body)
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
    return header_codec(frame.direction, frame.key, version).layout.fitted(header)

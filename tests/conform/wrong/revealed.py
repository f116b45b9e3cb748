"""Wrong answers that list what the broker left out."""

from __future__ import annotations

from typing import Any

from tests.conform.recordings import Wrong, with_body


def revealed(api: str, rows: str) -> Wrong:
    """List the rows of the response before where none is listed.

    Args:
        api: the API's name.
        rows: the field with the rows, at the top.
    """
    seen: list[Any] = []

    def edit(body: Any) -> None:
        seen[:] = body[rows] or seen
        body[rows] = list(seen)

    return with_body(api, None, edit)

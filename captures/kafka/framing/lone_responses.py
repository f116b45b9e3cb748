"""Infer the layouts of a connection's responses where no request of it was captured."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.framing.inference import SEARCHED_BYTES, Layout, fitting

SEARCHED: Final = 20
"""The most responses of a connection that are decoded as every API."""

DISTINCT: Final = 32
"""Responses from this length on are decoded as those found before: shorter ones may be of other APIs."""


class LoneResponses:
    """The layouts of a connection's responses, as far as they were inferred."""

    def __init__(self) -> None:
        self._layouts: dict[tuple[int, int], None] = {}
        """Keys and versions, in the order in which they were found."""
        self._searched = 0

    def layout(self, frame: bytes) -> Layout | None:
        """Return the layout of the next response, without its size; None: it is unknown."""
        layout, size = None, len(frame)
        if size >= DISTINCT:
            layout = fitting(frame, self._layouts)
        if layout is None and self._searched < SEARCHED and size <= SEARCHED_BYTES:
            self._searched += 1
            layout = fitting(frame)
        if layout is not None:
            self._layouts[layout.key, layout.version] = None
        return layout

"""Which places of a case a session fills in: those of the seed that the changes have left alone."""

from __future__ import annotations

from typing import Final

from fuzz.case import Live
from fuzz.fieldmap import FieldMap

_ID: Final = {"request": 8, "response": 4}
"""Where the correlation id stands in a chunk."""

_ONE: Final = {way: (Live(0, at, 4, "correlation_id"),) for way, at in _ID.items()}


def live_places(
    chart: FieldMap, touched: str | None, chunks: tuple[bytes, ...], session: str
) -> tuple[Live, ...]:
    """The places in the order of the chunks; a checksum comes behind what it covers.

    touched: the path of what was changed last.
    """
    way = chart.seed.direction
    if not session and len(chunks) == 1:
        if touched == "header.correlation_id" or len(chunks[0]) < _ID[way] + 4:
            return ()
        return _ONE[way]
    return tuple(
        place for number, chunk in enumerate(chunks) for place in _places(chart, number, chunk)
    )


def _places(chart: FieldMap, number: int, chunk: bytes) -> list[Live]:
    at = _ID[chart.seed.direction]
    frame = chart.seed.frame
    if len(chunk) < at + 4 or chunk[at : at + 4] != frame[at - 4 : at]:
        return []
    return [Live(number, at, 4, "correlation_id")]

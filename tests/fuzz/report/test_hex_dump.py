"""Rows of bytes: a place is marked wherever it is, and what is left out is counted."""

from __future__ import annotations

from barnabas.fuzz.report.hex_dump import BYTES, dump
from barnabas.fuzz.report.message import Place

LONG = bytes(range(256)) * 256


def test_what_is_long_is_cut_around_the_place() -> None:
    for place in (None, Place(3, 5), Place(30000, 30004), Place(65000, 65536), Place(65536, 65536)):
        rows = list(dump(LONG, place))
        assert len(rows) < 80
        left = sum(int(row.split()[1]) for row in rows if row.startswith("... "))
        bytes_shown = sum(len(row[6:53].split()) for row in rows if row[:3] not in ("   ", "..."))
        assert left + bytes_shown == len(LONG)
        assert bytes_shown <= BYTES
        assert any(row.startswith("   ") for row in rows) is (place is not None)

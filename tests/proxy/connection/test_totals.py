"""Counts of several proxies together."""

from __future__ import annotations

from dataclasses import astuple, fields

from barnabas.proxy.connection.totals import Totals


def test_every_count_is_added() -> None:
    numbers = range(1, len(fields(Totals)) + 1)
    found = Totals(*numbers)
    found.add(Totals(*(10 * number for number in numbers)))
    assert astuple(found) == tuple(11 * number for number in numbers)

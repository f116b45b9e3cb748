from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.summary.heat_map import COLUMNS, ROWS, HeatMap, bound_ms, bucket

TIMES = st.lists(st.tuples(st.integers(0, 10**15), st.floats(0, 1e9)), max_size=50)


@given(TIMES)
def test_it_is_bounded_and_counts_all(found: list[tuple[int, float]]) -> None:
    heat = HeatMap()
    for ts, ms in found:
        heat.note(ts, ms)
    document = heat.document()
    width = document["width_ms"] * 1_000_000
    columns = {int(start) // width for start, _, _ in document["cells"]}
    assert sum(count for *_, count in document["cells"]) == len(found)
    assert not columns or max(columns) - min(columns) < COLUMNS


@given(st.floats(0, 6e7))
def test_a_latency_is_within_its_bucket(ms: float) -> None:
    number = bucket(ms)
    assert 0 <= number <= ROWS
    assert ms <= bound_ms(number) * (1 + 1e-12)
    assert number == 0 or bound_ms(number - 1) < ms * (1 + 1e-12)

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.fuzz.engine.bisecting import bisect


@given(st.data())
def test_the_range_is_found_with_few_trials(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 200))
    releases = [str(number) for number in range(count)]
    oldest = data.draw(st.integers(0, count - 1))
    newest = data.draw(st.integers(oldest, count - 1))
    known = data.draw(st.integers(oldest, newest))
    found = bisect(releases, str(known), lambda one: oldest <= int(one) <= newest)
    assert found is not None
    assert (found.oldest, found.newest) == (str(oldest), str(newest))
    assert len(found.tried) <= 3 + 2 * count.bit_length()


def test_one_that_does_not_show_it_any_more_has_no_range() -> None:
    assert bisect(["1", "2", "3"], "2", lambda _: False) is None

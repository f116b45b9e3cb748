"""Lines of limited rate: what is busy is kept, what is idle is not, and there are never too many."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.rules.rate_limiter import MOST, Lines


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 9))))
def test_each_line_is_busy_by_itself_and_idle_time_is_not_saved_up(
    used: list[tuple[str, int, int]],
) -> None:
    lines, busy, now = Lines(), dict.fromkeys("abc", 0), 0
    for line, ns, later in used:
        now += later
        busy[line] = max(busy[line], now) + ns
        assert lines.pace(line, ns, now) == busy[line]


def test_lines_that_are_idle_again_are_forgotten() -> None:
    lines = Lines()
    for number in range(10 * MOST):
        lines.pace(f"client {number}", 1000, number)
    assert len(lines) <= MOST
    assert lines.pace(f"client {number}", 1000, number) == number + 2000


def test_so_many_long_names_on_lines_that_stay_busy_are_bounded_in_memory_and_in_work() -> None:
    lines, name = Lines(), "x" * 30_000
    tracemalloc.start()
    try:
        for number in range(2 * MOST):
            assert lines.pace(f"{name} {number}", 10**15, number) == number + 10**15
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(lines) == MOST
    assert kept < 5 << 20  # the names are 600 MB
    assert lines._idle == 10**15, "nothing is idle: nobody looked for it but once"

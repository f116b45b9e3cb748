"""Test datagrams of fragments: any order, any overlap, bounded memory."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.tcp.fragments import WAITING, Fragments


@given(st.binary(min_size=1, max_size=200), st.data())
def test_any_order_and_overlap(whole: bytes, data: st.DataObject) -> None:
    cuts = sorted({0, *(8 * n for n in data.draw(st.sets(st.integers(0, (len(whole) - 1) // 8))))})
    ends = [*cuts[1:], len(whole)]
    pieces = list(zip(cuts, ends, strict=True))
    at = data.draw(st.sampled_from(cuts))
    pieces.append((at, data.draw(st.integers(at, len(whole)))))  # overlaps what comes behind it
    found = []
    fragments = Fragments()
    for begin, end in data.draw(st.permutations(pieces)):
        found.append(fragments.add("key", begin, end < len(whole), whole[begin:end]))
    assert whole in found
    assert {one for one in found if one is not None} == {whole}


def test_datagrams_do_not_mix() -> None:
    fragments = Fragments()
    assert fragments.add("a", 0, True, b"1" * 8) is None
    assert fragments.add("b", 8, False, b"2") is None
    assert fragments.add("a", 8, False, b"3") == b"111111113"
    fragments.end()
    assert (fragments.given_up, fragments.incomplete) == (1, 2)


def test_nothing_counts_that_is_over() -> None:
    fragments = Fragments()
    for _ in range(2):
        for key in range(300):
            assert fragments.add(key, 8, False, bytes(50_000)) is None
        assert fragments.add(0, 0, True, bytes(8)) == bytes(50_008)
        fragments.end()
    assert fragments.given_up == 2 * 299


def test_none_is_longer_than_ip_allows() -> None:
    fragments = Fragments()
    assert fragments.add("a", 65_528, False, bytes(8)) is None
    assert fragments.add("a", 0, True, bytes(65_528)) is None


def test_memory_is_bounded() -> None:
    fragments = Fragments()
    tracemalloc.start()
    for key in range(3000):
        fragments.add(key, 8, True, bytes(50_000))
        fragments.add(key, 0, True, b"")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < WAITING * 1.2
    assert 2600 < fragments.given_up < 3000

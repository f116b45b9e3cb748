"""What the page holds, and what falls out."""

from __future__ import annotations

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.page.store import Store


def exchange(number: int, body: bytes = b"") -> Exchange:
    return Exchange(number, 1, "c", None, None, 3, 0, number, 9, request_body=body)


def filled(exchanges: int, **bounds: int) -> Store:
    store = Store(Context(), **bounds)
    for number in range(exchanges):
        store.add(exchange(number, b"x" * 10))
    return store


def test_numbers_stay_when_the_oldest_fall_out() -> None:
    store = filled(7, count=3)
    assert (store.first, store.end) == (4, 7)
    assert store.get(3) is None
    assert store.get(7) is None
    kept = store.get(4)
    assert kept is not None
    assert kept.correlation_id == 4


def test_bytes_bound_it_too_but_the_last_one_stays() -> None:
    assert filled(7, size=25).first == 5
    store = filled(2, size=5)
    assert (store.first, store.end) == (1, 2)


def test_a_question_looks_at_so_many_and_says_where_to_go_on() -> None:
    store = filled(10, count=8)
    found = store.find(lambda each: each.correlation_id % 2 == 0, looks=4)
    assert found == ([2, 4], 5)
    found = store.find(lambda each: each.correlation_id % 2 == 0, found.after, looks=4)
    assert found == ([6, 8], 9)
    assert store.find(lambda _: True, 9) == ([], 9)

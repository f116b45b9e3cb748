from __future__ import annotations

import functools

from barnabas.cli.top.keyboard import keys_in
from barnabas.cli.top.view import TABLES, View

SNAPSHOT = {
    "clients": [
        {"name": "orders", "per_s": 2.0, "p99_ms": None, "last_api": "Fetch"},
        {"name": "Billing", "per_s": 9.0, "p99_ms": 3.0, "last_api": "Produce"},
        {"name": "orders-2", "per_s": 2.0, "p99_ms": 8.0, "last_api": "Fetch"},
    ],
    "groups": [
        {"name": "a", "members": 1, "state": None},
        {"name": "b", "members": None, "state": "stable"},
        {"name": "c", "members": 3, "state": "empty"},
    ],
}


def after(keys: str) -> View:
    return functools.reduce(View.press, keys_in(keys), View())


def names(view: View, title: str = "clients") -> list[str]:
    return [row["name"] for row in view.rows(title, SNAPSHOT)]


def sorted_by(view: View) -> str:
    return TABLES[view.selected][view.orders[view.selected]].title


def test_rows_are_sorted_by_a_column_that_keys_move() -> None:
    assert names(View()) == ["Billing", "orders", "orders-2"]
    assert sorted_by(after("<")) == "client"
    assert names(after("<")) == ["Billing", "orders", "orders-2"]
    assert sorted_by(after("<<")) == sorted_by(after("\x1b[D\x1b[D")) == "last API"
    by_p99 = after(">" * 6)
    assert sorted_by(by_p99) == "p99"
    assert names(by_p99) == ["orders-2", "Billing", "orders"]  # unknown comes last
    assert sorted_by(after("s" * len(TABLES["clients"]))) == "req/s"
    assert names(View(), "groups") == ["c", "a", "b"]
    assert names(after("3>"), "groups") == ["c", "b", "a"]


def test_each_table_has_its_own_order() -> None:
    view = after("2>1")
    assert (view.selected, sorted_by(view)) == ("clients", "req/s")
    assert sorted_by(view.press("2")) == "errors/s"


def test_tables_are_selected() -> None:
    assert (after("4").selected, after("4").alone) == ("APIs", True)
    assert (after("40").selected, after("40").alone) == ("APIs", False)
    assert [after("\t" * times).selected for times in range(5)] == [
        "clients", "topics", "groups", "APIs", "clients",
    ]  # fmt: skip


def test_a_filter_is_typed() -> None:
    typing = after("/or2q\x7f\x7f")
    assert (typing.filter, typing.is_typing, typing.is_over) == ("or", True, False)
    kept = after("/ORD\r")
    assert (names(kept), kept.is_typing) == (["orders", "orders-2"], False)
    assert after("/ord\x1b").filter == after("/ord\r\x1b").filter == ""
    assert after("/ord\r/").filter == ""


def test_other_keys() -> None:
    assert after("p").is_paused
    assert not after("pp").is_paused
    assert after("xq").is_over
    assert after("x\x1b[3~\x1b[15~é") == View()

"""Test which exchanges a sequence selects, and which names it offers."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.sequence import sequence
from barnabas.captures.summary.sequence_selection import NAME, Selection, choices, groups_of
from tests.captures.summary.views import sample


def apis(selection: Selection, name: str = "transactions.pcapng") -> set[str]:
    messages = sequence(enumerate(sample(name)), begin=0, selection=selection)["messages"]
    return {message["api"] for message in messages}


def exchange(connection: int, client: str | None = None) -> Exchange:
    return Exchange(0, connection, f"address:{connection}", client, None, 3, 0, 0, 12)


@pytest.mark.parametrize(
    ("group", "members"),
    [
        (
            "others",
            {"JoinGroup", "SyncGroup", "OffsetFetch", "OffsetCommit", "LeaveGroup"},
        ),
        ("readers", {"AddOffsetsToTxn", "TxnOffsetCommit"}),
        ("nobody", set()),
    ],
)
def test_a_group_has_the_requests_that_name_it(group: str, members: set[str]) -> None:
    found = apis(Selection(group=group))
    assert found <= members
    assert (not found) == (not members)
    if group == "others":
        assert "OffsetFetch" in found  # version 8 and later name groups in a list


def test_a_client_without_an_id_is_named_by_its_address() -> None:
    named, unnamed = exchange(1, "me"), exchange(2)
    assert [Selection(client="me").includes(each) for each in (named, unnamed)] == [True, False]
    by_address = Selection(client="address:2")
    assert [by_address.includes(each) for each in (named, unnamed)] == [False, True]
    assert choices([named, unnamed])["clients"] == ["address:2", "me"]


def test_a_long_name_is_selected_as_it_is_offered() -> None:
    several = [exchange(1, "x" * 30_000), exchange(2, "y" * 30_000)]
    for name, each in zip(choices(several)["clients"], several, strict=True):
        assert len(name) == NAME
        assert Selection(client=name).includes(each)
    assert choices(several)["clients"] != choices(several[:1])["clients"] * 2


def test_choices_have_the_latest_names_and_count_the_others() -> None:
    several = [exchange(number, f"c{number % 3}") for number in (1, 2, 3, 1)]
    offered: dict[str, Any] = choices(several, most=2)
    assert [each["connection"] for each in offered["connections"]] == [1, 3]
    assert offered["clients"] == ["c0", "c1"]
    assert offered["left_out"] == 2


def test_choices_do_not_depend_on_the_selection() -> None:
    exchanges = list(enumerate(sample("faults.pcapng")))
    every = sequence(exchanges)["choices"]
    assert sequence(exchanges, selection=Selection(connection=1))["choices"] == every
    assert {"connection": 1, "client": "writer", "broker": "127.0.0.1:41619"} in every[
        "connections"
    ]


def test_groups_are_read_without_storing_anything_in_the_exchange() -> None:
    member = next(each for each in sample("faults.pcapng") if each.api == "JoinGroup")
    assert groups_of(member) == ("readers",)
    assert (member.known("request"), member.facts) == (None, None)

"""What flows say of themselves becomes numbers and names of all."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from barnabas.captures.kafka.context.memory import BYTES, Memory
from barnabas.pipeline.reading.facts import gather
from barnabas.pipeline.reading.flows import OWN
from barnabas.pipeline.reading.outcomes import Outcome, Place
from barnabas.pipeline.reading.plan import SectionGroup
from barnabas.pipeline.reading.side_tables import forgotten_rows


def said(kind: str, section_group: int, of: int, at: int, **more: Any) -> Outcome:
    return Outcome(kind, section_group, of, Place(at, 0, 1), more)


OTHERS, OURS = SectionGroup(False, 100), SectionGroup(True, 200)


def test_connections_of_others_are_numbered_as_they_were_recognised() -> None:
    rows = [said("connection", 0, OWN + created, at) for created, at in ((3, 90), (5, 40), (9, 60))]
    for _ in range(4):
        Random(7).shuffle(rows)
        facts = gather(rows, [OTHERS])
        assert facts.connections == {(0, OWN + 5): 1, (0, OWN + 9): 2, (0, OWN + 3): 3}


def test_sections_count_on_and_flows_without_a_name_are_below_zero() -> None:
    rows = [
        said("flow", 0, OWN + 1, 4),
        said("flow", 0, OWN + 7, 28),
        said("connection", 0, 4, 4),
        said("connection", 0, -(OWN + 7), 28),
        said("connection", 1, 2, 400),
    ]
    facts = gather(rows, [OURS, OURS])
    assert facts.connections == {(0, 4): 4, (0, -(OWN + 7)): -2, (1, 2): 6}


def test_an_address_of_two_brokers_or_of_two_clusters_says_nothing() -> None:
    def broker(
        address: str, node: int, cluster: str | None = "c", several: bool = False
    ) -> Outcome:
        return said("broker", 0, 0, 0, address=address, node=node, cluster=cluster, several=several)

    one = [broker("a:1", 1), broker("b:1", 2), broker("b:1", 3), broker("c:1", 4, None)]
    assert gather(one, []).brokers == {"a:1": 1, "b:1": None, "c:1": 4}
    assert gather([*one, broker("d:1", 5, "other")], []).brokers == {}
    assert gather([*one, broker("d:1", 5, several=True)], []).brokers == {}


def test_losses_are_in_order() -> None:
    facts = gather([said("loss", 0, 1, at) for at in (9, 2, 5)], [OTHERS])
    assert [place.at for place in facts.losses] == [2, 5, 9]


def test_names_of_all_flows_have_a_bound_and_what_is_beyond_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [said("topic", 0, 0, 0, id=f"{number:032x}", name="t") for number in range(3)]
    assert forgotten_rows(gather(rows, [OTHERS]), "c") == []
    monkeypatch.setattr(Memory.__init__, "__defaults__", (2, BYTES))
    facts = gather(rows, [OTHERS])
    assert [topic.int for topic in facts.topics] == [1, 2]
    (row,) = forgotten_rows(facts, "c")
    assert (row["kind"], row["reason"].split()[0]) == ("forgotten", "1")

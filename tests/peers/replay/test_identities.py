from __future__ import annotations

import uuid

import pytest

from barnabas.peers.replay.identities import Identities, scope_of

ONE, OTHER, FIVE, EIGHT, NINE = (uuid.UUID(int=number) for number in (1, 2, 5, 8, 9))


def test_generations_are_a_groups_own() -> None:
    known = Identities()
    known.learn({"generation_id": 4}, {"generation_id": 1}, "g")
    body = {"generation_id_or_member_epoch": 4}
    assert (scope_of({"group_id": "g"}), scope_of({})) == ("g", None)
    assert known.translate(body, "g") == {"generation_id_or_member_epoch": 1}
    assert known.translate(body, "h") == body


@pytest.mark.parametrize("value", [-2, -1, 0])
def test_numbers_that_mean_none_stay(value: int) -> None:
    known = Identities()
    known.learn({"member_epoch": value}, {"member_epoch": 9}, "g")
    assert known.translate({"member_epoch": value}, "g") == {"member_epoch": value}


def test_members_are_who_they_are_whoever_leads() -> None:
    known = Identities()
    known.learn({"leader": "a", "member_id": "a"}, {"leader": "B", "member_id": "A"}, "g")
    known.learn({"leader": "a", "member_id": "b"}, {"leader": "B", "member_id": "B"}, "g")
    given = {"assignments": [{"member_id": "a", "assignment": b"x"}], "instances": ["a"]}
    assert known.translate(given, "g") == {
        "assignments": [{"member_id": "A", "assignment": b"x"}],
        "instances": ["a"],
    }


def producer(id: int, epoch: int) -> dict[str, int]:
    return {"producer_id": id, "producer_epoch": epoch}


def test_producers_ids_and_epochs_go_together() -> None:
    known = Identities()
    known.learn(producer(1000, 3), producer(5, 0), None)
    asked = {**producer(1000, 4), "committed": True}
    assert known.translate(asked, None) == {**producer(5, 1), "committed": True}
    assert asked["producer_id"] == 1000  # the recording stays as it is
    known.learn(producer(-1, -1), producer(6, 0), None)
    assert known.translate(producer(-1, -1), None) == producer(-1, -1)

"""Records with the same key in several partitions."""

from __future__ import annotations

from typing import Any

from barnabas.experiments.clients.keys import scattered
from barnabas.experiments.explore.log import Log, LoggedRecord


def kinds(records: list[dict[str, Any]], partitions: list[int]) -> list[str]:
    log = Log(
        LoggedRecord("t", partition, offset, record["id"])
        for offset, (record, partition) in enumerate(zip(records, partitions, strict=True))
    )
    return [finding.text for finding in scattered([[records]], "t", log)]


SAME = [{"id": "a", "key": "k"}, {"id": "b", "key": "k"}]


def test_a_key_in_two_partitions_is_a_finding() -> None:
    assert kinds(SAME, [0, 2]) == ["records with the key k are in the partitions 0, 2 of t"]


def test_a_key_in_one_partition_is_none() -> None:
    assert kinds(SAME, [1, 1]) == []


def test_records_with_other_keys_or_chosen_partitions_may_be_anywhere() -> None:
    chosen = [{"id": "a", "key": "k", "partition": 0}, {"id": "b", "key": "k", "partition": 1}]
    assert kinds(chosen, [0, 1]) == []
    assert kinds([{"id": "a", "key": "k"}, {"id": "b", "key": "l"}, {"id": "c"}], [0, 1, 2]) == []

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.rebalances.counting import complete, puts_back, rows


def run(**other: Any) -> dict[str, Any]:
    """A run that came to its rebalance without being overtaken."""
    return {
        "arm": "no proxy", "overtaken": False, "exit": "commit", "broker": "",
        "stall_ms": 100, "never": 0, "died": [], **other,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kept", "so"),
    [
        ("0@30 revoked, 0@20 async-17", True),
        ("0@30 newer, 0@20 again", True),
        ("0@20 async-17, 0@30 revoked", False),
        ("1@30 revoked, 0@20 async-17", False),
        ("0@30 newer, 0@20 first", False),
        ("0@20 first, 0@20 async-17", False),
    ],
)
def test_only_a_marked_commit_puts_an_offset_back_and_only_of_its_partition(
    kept: str, so: bool
) -> None:
    assert puts_back({"kept": kept}) is so


@pytest.mark.parametrize(
    "lacking", [{"stall_ms": None}, {"never": 1}, {"died": [["m", "died", "TimeoutError"]]}]
)
def test_a_run_without_its_rebalance_or_all_its_records_is_not_complete(lacking: Any) -> None:
    assert complete(run())
    assert complete(run(died=[["m", "died", "CommitFailedException"]]))
    assert not complete(run(**lacking))
    assert rows([run(**lacking)]) == []

"""The members of groups that draws stand for."""

from __future__ import annotations

import pytest

from barnabas.experiments.clients.draws import Draw, draw, plain
from barnabas.experiments.clients.members import members
from barnabas.experiments.clients.workloads import WORKLOADS, Workload, find

GROUPS = [workload for workload in WORKLOADS if workload.members]


def test_a_plain_group_has_one_member_without_features() -> None:
    workload = find("group")
    assert members(plain(workload), workload, "t") == [
        {"name": "reader-1", "after": 0, "settings": {}}
    ]


def test_three_members_join_one_after_the_other() -> None:
    workload = find("cooperative")
    joins = [member["after"] for member in members(plain(workload), workload, "t")]
    assert joins == [0, 1, 25]


def test_the_successor_of_a_static_member_has_its_instance_id() -> None:
    workload = find("static")
    group = members(plain(workload), workload, "t")
    assert [member["settings"]["group.instance.id"] for member in group] == [
        "instance-1",
        "instance-2",
        "instance-1",
    ]
    assert group[0]["leaves"] == 33
    assert group[2]["follows"] == group[0]["name"]


def test_workloads_without_a_group_have_no_members() -> None:
    assert members(plain(find("produce")), find("produce"), "t") == []


@pytest.mark.parametrize("workload", GROUPS, ids=lambda workload: workload.name)
@pytest.mark.parametrize("seed", range(20))
def test_members_can_always_join(workload: Workload, seed: int) -> None:
    drawn: Draw = draw(seed, workload)
    group = members(drawn, workload, "t")
    assert len({member["name"] for member in group}) == len(group) == drawn.members + drawn.leaves
    assert all(member.get("after", 0) < drawn.records for member in group)
    assert group[0]["after"] == 0

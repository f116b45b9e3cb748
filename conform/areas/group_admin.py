"""Groups as administrators see them: DescribeGroups, ListGroups, DeleteGroups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.commits import COMMITS, commit, committed
from barnabas.conform.expectations import Not, OneOf
from barnabas.conform.groups import MEMBERS, new_member, only_member
from barnabas.conform.response import Response

DESCRIBED: Final = {**MEMBERS, "DescribeGroups": 0}
LISTED: Final = {**MEMBERS, "ListGroups": 0}

NOT_COMPUTED: Final = -(2**31)
"""authorized_operations, unless a request asks for them (KIP-430)."""


async def describe(broker: Broker, group: str, **fields: Any) -> Response:
    """Describe a group, and return its part of the response."""
    connection = await broker.coordinator(group)
    return (await connection.send("DescribeGroups", groups=[group], **fields)).at("groups[0]")


async def listed(broker: Broker, group: str, **filters: Sequence[str]) -> Response:
    """List groups, and return a group's part of the response. Raises Failed if it is not listed."""
    response = await _list(broker, group, **filters)
    for index, row in enumerate(response["groups"]):
        if row["group_id"] == group:
            return response.at(f"groups[{index}]")
    expected = f"{group!r}, with {filters or 'no filters'}"
    raise response.failed("groups", expected, f"{len(response['groups'])} other groups")


async def not_listed(broker: Broker, group: str, **filters: Sequence[str]) -> None:
    """List groups with filters that leave a group out. Raises Failed if it is listed."""
    response = await _list(broker, group, **filters)
    if any(row["group_id"] == group for row in response["groups"]):
        raise response.failed("groups", f"not {group!r}, with {filters}", "it")


async def _list(broker: Broker, group: str, **filters: Sequence[str]) -> Response:
    connection = await broker.coordinator(group)
    response = await connection.send(
        "ListGroups", **{"states_filter": [], "types_filter": [], **filters}
    )
    return response.expect(error_code="NONE")


async def delete(broker: Broker, group: str) -> Response:
    """Delete a group, and return its part of the response."""
    connection = await broker.coordinator(group)
    return (await connection.send("DeleteGroups", groups_names=[group])).at("results[0]")


@check(
    "group/describe-unknown",
    "KIP-1043; DescribeGroupsResponse.json",
    needs={"DescribeGroups": 0},
    each="DescribeGroups",
)
async def describe_unknown(broker: Broker) -> None:
    """An unknown group is described as Dead, from v6 on with GROUP_ID_NOT_FOUND."""
    error = "NONE" if broker.version("DescribeGroups") < 6 else "GROUP_ID_NOT_FOUND"
    response = await describe(broker, broker.name("group"))
    response.expect(error_code=error, group_state="Dead", members=[])


@check(
    "group/describe-stable",
    "DescribeGroupsResponse.json",
    needs=DESCRIBED,
    each="DescribeGroups",
)
async def describe_stable(broker: Broker) -> None:
    """A stable group is described with its protocol and its members' metadata and assignments."""
    member = await only_member(
        broker, broker.name("group"), protocol_type="bytes", protocols={"p": b"\0metadata"}
    )
    response = await describe(broker, member.group)
    response.expect(
        error_code="NONE",
        group_id=member.group,
        group_state="Stable",
        protocol_type="bytes",
        protocol_data="p",
    )
    response.at("members[0]").expect(
        member_id=member.id,
        client_id="barnabas-conform",
        client_host=Not(""),
        member_metadata=b"\0metadata",
        member_assignment=b"all",
    )


@check(
    "group/describe-states",
    "ClassicGroupState",
    needs={**DESCRIBED, "LeaveGroup": 0},
)
async def describe_states(broker: Broker) -> None:
    """A group is CompletingRebalance until its leader has synced, and Empty when its last member has left."""
    # Kafka 4.0 describes a group as Dead until its first assignment is stored.
    member = await only_member(broker, broker.name("group"))
    await member.join()
    # Brokers up to Kafka 0.11 report AwaitingSync.
    joined = OneOf("CompletingRebalance", "AwaitingSync")
    (await describe(broker, member.group)).expect(group_state=joined)
    (await member.sync({member.id: b"all"})).expect(error_code="NONE")
    (await describe(broker, member.group)).expect(group_state="Stable")
    await member.leave()
    (await describe(broker, member.group)).expect(group_state="Empty", members=[])


@check(
    "group/describe-preparing",
    "ClassicGroupState",
    needs=DESCRIBED,
)
async def describe_preparing(broker: Broker) -> None:
    """A group is PreparingRebalance while a newcomer waits for the members to join again."""
    member = await only_member(broker, broker.name("group"))
    newcomer = await new_member(broker, member.group)
    await newcomer.request_join()
    await member.expect_rebalance()
    (await describe(broker, member.group)).expect(group_state="PreparingRebalance")


@check(
    "group/describe-operations",
    "KIP-430",
    needs={**DESCRIBED, "DescribeGroups": 3},
)
async def describe_operations(broker: Broker) -> None:
    """Authorized operations are given if the request asks for them, and are -2147483648 otherwise."""
    group = (await only_member(broker, broker.name("group"))).group
    (await describe(broker, group)).expect(authorized_operations=NOT_COMPUTED)
    response = await describe(broker, group, include_authorized_operations=True)
    response.expect(authorized_operations=Not(NOT_COMPUTED))


@check(
    "group/describe-instance",
    "KIP-345",
    needs={"JoinGroup": 5, "SyncGroup": 3, "Heartbeat": 3, "DescribeGroups": 4},
)
async def describe_instance(broker: Broker) -> None:
    """A static member is described with its instance id, a dynamic one with null."""
    static = await only_member(broker, broker.name("group"), instance_id="i")
    (await describe(broker, static.group)).expect(**{"members[0].group_instance_id": "i"})
    dynamic = await only_member(broker, broker.name("group"))
    (await describe(broker, dynamic.group)).expect(**{"members[0].group_instance_id": None})


@check(
    "group/describe-several",
    "DescribeGroupsRequest.json",
    needs=DESCRIBED,
)
async def describe_several(broker: Broker) -> None:
    """A response describes each of several groups of the request, unknown ones too."""
    live = (await only_member(broker, broker.name("group"))).group
    groups = [live, broker.name("group")]
    response = await (await broker.coordinator(live)).send("DescribeGroups", groups=groups)
    received = {row["group_id"]: row["group_state"] for row in response["groups"]}
    expected = {live: "Stable", groups[1]: "Dead"}
    if received != expected:
        raise response.failed("groups", f"{expected}", f"{received}")


@check(
    "group/list",
    "ListGroupsResponse.json",
    needs=LISTED,
    each="ListGroups",
)
async def list_all(broker: Broker) -> None:
    """ListGroups has a group with members, and its protocol type."""
    member = await only_member(broker, broker.name("group"), protocol_type="bytes")
    row = (await listed(broker, member.group)).expect(protocol_type="bytes")
    if broker.version("ListGroups") >= 4:
        row.expect(group_state="Stable")
    if broker.version("ListGroups") >= 5:
        row.expect(group_type="classic")


@check(
    "group/list-states",
    "KIP-518",
    needs={**LISTED, "ListGroups": 4},
)
async def list_states(broker: Broker) -> None:
    """ListGroups with a filter of states has only groups in these states."""
    group = (await only_member(broker, broker.name("group"))).group
    await listed(broker, group, states_filter=["Empty", "Stable"])
    await not_listed(broker, group, states_filter=["Empty"])


@check("group/list-unknown-state", "KIP-518", level=SHOULD, needs={**LISTED, "ListGroups": 4})
async def list_unknown_state(broker: Broker) -> None:
    """ListGroups with a filter that is not a state has no groups."""
    member = await only_member(broker, broker.name("group"))
    response = await member.connection.send(
        "ListGroups", states_filter=["NoSuchState"], types_filter=[]
    )
    response.expect(error_code="NONE", groups=[])


@check(
    "group/list-types",
    "KIP-848",
    needs={**LISTED, "ListGroups": 5},
)
async def list_types(broker: Broker) -> None:
    """ListGroups with a filter of types has only groups of these types."""
    group = (await only_member(broker, broker.name("group"))).group
    await listed(broker, group, types_filter=["classic"])
    await not_listed(broker, group, types_filter=["consumer"])


@check(
    "group/delete",
    "KIP-229",
    needs={**MEMBERS, **COMMITS, "LeaveGroup": 0, "DeleteGroups": 0},
    each="DeleteGroups",
)
async def delete_empty(broker: Broker) -> None:
    """An empty group can be deleted, with its committed offsets."""
    topic = await broker.topic()
    member = await only_member(broker, broker.name("group"))
    await member.leave()
    (await commit(broker, member.group, topic, 5)).expect(**{"partitions[0].error_code": "NONE"})
    (await delete(broker, member.group)).expect(error_code="NONE", group_id=member.group)
    (await committed(broker, member.group, topic)).expect(committed_offset=-1)
    (await delete(broker, member.group)).expect(error_code="GROUP_ID_NOT_FOUND")


@check(
    "group/delete-non-empty",
    "KIP-229",
    needs={**MEMBERS, "DeleteGroups": 0},
)
async def delete_non_empty(broker: Broker) -> None:
    """A group with members can't be deleted: NON_EMPTY_GROUP, and the group lives on."""
    member = await only_member(broker, broker.name("group"))
    (await delete(broker, member.group)).expect(error_code="NON_EMPTY_GROUP")
    (await member.heartbeat()).expect(error_code="NONE")


@check(
    "group/delete-unknown",
    "KIP-229",
    needs={"DeleteGroups": 0},
)
async def delete_unknown(broker: Broker) -> None:
    """Deleting an unknown group gets GROUP_ID_NOT_FOUND."""
    (await delete(broker, broker.name("group"))).expect(error_code="GROUP_ID_NOT_FOUND")


@check(
    "group/delete-several",
    "KIP-229",
    needs={**MEMBERS, **COMMITS, "DeleteGroups": 0},
)
async def delete_several(broker: Broker) -> None:
    """A DeleteGroups of several groups has an error code for each, and deletes those that can be."""
    topic = await broker.topic()
    live = (await only_member(broker, broker.name("group"))).group
    empty, unknown = broker.name("group"), broker.name("group")
    await commit(broker, empty, topic, 5)
    response = await (await broker.coordinator(live)).send(
        "DeleteGroups", groups_names=[live, unknown, empty]
    )
    expected = {live: "NON_EMPTY_GROUP", unknown: "GROUP_ID_NOT_FOUND", empty: "NONE"}
    rows = range(len(response["results"]))
    received = {
        response[f"results[{row}].group_id"]: response[f"results[{row}].error_code"] for row in rows
    }
    if received != expected:
        raise response.failed("results", f"{expected}", f"{received}")


CHECKS: Final[tuple[Check, ...]] = (
    describe_unknown,
    describe_stable,
    describe_states,
    describe_preparing,
    describe_operations,
    describe_instance,
    describe_several,
    list_all,
    list_states,
    list_unknown_state,
    list_types,
    delete_empty,
    delete_non_empty,
    delete_unknown,
    delete_several,
)

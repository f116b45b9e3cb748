"""FindCoordinator: which broker manages a group or a transactional id."""

from __future__ import annotations

import base64
from typing import Final
from uuid import UUID

from barnabas.conform.broker import GROUP, Broker
from barnabas.conform.check import Check, check
from barnabas.conform.expectations import AtLeast
from barnabas.conform.groups import MEMBERS, Member
from barnabas.conform.response import Response
from barnabas.conform.verdicts import Skipped

TRANSACTION: Final = 1
SHARE: Final = 2
"""Types of keys."""

SEVERAL_KEYS: Final = 4
"""From this version on FindCoordinator has a list of keys (KIP-699)."""


async def find(broker: Broker, *keys: str, key_type: int = GROUP, oldest: int = 0) -> Response:
    """Look up coordinators, and return the response."""
    return await broker.send(
        "FindCoordinator",
        broker.version("FindCoordinator", oldest),
        key=keys[0],
        key_type=key_type,
        coordinator_keys=list(keys),
    )


def row(response: Response) -> Response:
    """Return the first key's part of a response of any version."""
    several = response.request.version >= SEVERAL_KEYS
    return response.at("coordinators[0]") if several else response


def _base64(topic_id: UUID) -> str:
    """Return a topic id as Kafka writes it in keys."""
    return base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")


def _expect_broker(entry: Response, metadata: Response) -> None:
    """Expect that a coordinator is one of the brokers in the cluster's metadata."""
    entry.expect(error_code="NONE")
    brokers = {
        (broker["node_id"], broker["host"], broker["port"]) for broker in metadata["brokers"]
    }
    received = (entry["node_id"], entry["host"], entry["port"])
    if received not in brokers:
        raise entry.failed("node_id", f"one of the brokers {brokers}", f"{received}")


@check(
    "coordinator/find",
    "FindCoordinatorResponse.json",
    needs={"FindCoordinator": 0},
    each="FindCoordinator",
)
async def find_group(broker: Broker) -> None:
    """A group's coordinator is one of the brokers in Metadata, with the same address."""
    entry = row(await find(broker, broker.name("group")))
    _expect_broker(entry, await broker.metadata())


@check(
    "coordinator/find-transaction",
    "KIP-98",
    needs={"FindCoordinator": 1, "InitProducerId": 0},
)
async def find_transaction(broker: Broker) -> None:
    """A transactional id's coordinator is one of the brokers in Metadata, with the same address."""
    key = broker.name("transactional-id")
    entry = row(await find(broker, key, key_type=TRANSACTION, oldest=1))
    _expect_broker(entry, await broker.metadata())


@check(
    "coordinator/same",
    "GroupCoordinatorService.partitionFor",
    needs={"FindCoordinator": 0},
)
async def same_coordinator(broker: Broker) -> None:
    """Every broker of the cluster names the same coordinator of a group."""
    group = broker.name("group")
    first = row(await find(broker, group)).expect(error_code="NONE")
    for other in (await broker.metadata())["brokers"]:
        connection = await broker.connect((other["host"], other["port"]))
        response = await connection.send(
            "FindCoordinator", key=group, key_type=GROUP, coordinator_keys=[group]
        )
        row(response).expect(error_code="NONE", node_id=first["node_id"])


@check(
    "coordinator/elsewhere",
    "KafkaApis; GroupCoordinatorService",
    needs={"FindCoordinator": 0, **MEMBERS},
)
async def elsewhere(broker: Broker) -> None:
    """Brokers that are not the coordinator of a group answer its members with NOT_COORDINATOR."""
    group = broker.name("group")
    coordinator = row(await find(broker, group)).expect(error_code="NONE")["node_id"]
    others = [
        (other["host"], other["port"])
        for other in (await broker.metadata())["brokers"]
        if other["node_id"] != coordinator
    ]
    if not others:
        raise Skipped("the cluster has one broker")
    for address in others:
        member = Member(group, await broker.connect(address), id="member", generation=1)
        connection = member.connection
        await connection.write("JoinGroup", None, **member.join_fields())
        (await connection.read()).expect(error_code="NOT_COORDINATOR")
        await member.request_sync()
        (await connection.read()).expect(error_code="NOT_COORDINATOR")
        await connection.write("Heartbeat", None, group_id=group, member_id="member")
        (await connection.read()).expect(error_code="NOT_COORDINATOR")


@check(
    "coordinator/several-keys",
    "KIP-699",
    needs={"FindCoordinator": SEVERAL_KEYS},
)
async def several_keys(broker: Broker) -> None:
    """A FindCoordinator of several groups is answered for each."""
    groups = [broker.name("group") for _ in range(3)]
    response = await find(broker, *groups, oldest=SEVERAL_KEYS)
    received = sorted(entry["key"] for entry in response["coordinators"])
    if received != sorted(groups):
        raise response.failed("coordinators", f"keys {groups}", f"{received}")
    for index in range(len(groups)):
        response.at(f"coordinators[{index}]").expect(error_code="NONE", port=AtLeast(1))


@check(
    "coordinator/bad-type",
    "FindCoordinatorRequest.CoordinatorType.forId",
    needs={"FindCoordinator": 1},
)
async def bad_type(broker: Broker) -> None:
    """A FindCoordinator with an unknown type of key gets INVALID_REQUEST."""
    entry = row(await find(broker, broker.name("group"), key_type=9, oldest=1))
    entry.expect(error_code="INVALID_REQUEST")


@check(
    "coordinator/share-key",
    "KIP-932; SharePartitionKey.validate",
    needs={"FindCoordinator": 6, "ShareFetch": 0},
)
async def share_key(broker: Broker) -> None:
    """The key of a share group's partition is GROUP:TOPIC_ID:PARTITION; others get INVALID_REQUEST."""
    entry = row(await find(broker, "nonsense", key_type=SHARE, oldest=6))
    entry.expect(error_code="INVALID_REQUEST")
    topic = await broker.topic()
    key = f"{broker.name('group')}:{_base64(await broker.topic_id(topic))}:0"
    row(await find(broker, key, key_type=SHARE, oldest=6)).expect(error_code="NONE")


CHECKS: Final[tuple[Check, ...]] = (
    find_group,
    find_transaction,
    same_coordinator,
    elsewhere,
    several_keys,
    bad_type,
    share_key,
)

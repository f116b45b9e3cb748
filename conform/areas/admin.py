"""Requests of administrators: log directories, quorum, features, quotas, credentials."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, SHOULD, Check, check
from barnabas.conform.expectations import AtLeast
from barnabas.conform.logs import produced
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response

SHA_256: Final = 1
"""The number of SCRAM-SHA-256 (ScramMechanism)."""

FEWEST: Final = 4096
"""The fewest iterations that SCRAM allows."""

BYTE_RATE: Final = "producer_byte_rate"


@check(
    "admin/log-dirs-grow",
    "KIP-113",
    level=INFO,
    needs={"DescribeLogDirs": 0, "Produce": 3, "CreateTopics": 0},
)
async def log_dirs_grow(broker: Broker) -> None:
    """DescribeLogDirs returns the size of a partition, which grows with its records."""
    topic = await broker.topic()
    sizes = []
    for _ in range(2):
        await produced(broker, topic, "x" * 1000)
        response = await (await broker.leader(topic)).send(
            "DescribeLogDirs", topics=[{"topic": topic, "partitions": [0]}]
        )
        sizes.append(
            sum(
                partition["partition_size"]
                for result in response["results"]
                for row in result["topics"]
                for partition in row["partitions"]
            )
        )
    if not 1000 <= sizes[0] < sizes[1]:
        raise response.failed("results", "a size of at least 1,000 bytes that grows", f"{sizes}")


@check("admin/quorum-leader", "KIP-595", level=INFO, needs={"DescribeQuorum": 0})
async def quorum_leader(broker: Broker) -> None:
    """DescribeQuorum returns a leader that is one of the voters."""
    topic = {"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}
    response = (await broker.send("DescribeQuorum", topics=[topic])).expect(error_code="NONE")
    part = response.at("topics[0].partitions[0]").expect(
        error_code="NONE", high_watermark=AtLeast(0)
    )
    voters = [row["replica_id"] for row in part["current_voters"]]
    if part["leader_id"] not in voters:
        raise part.failed("leader_id", f"one of {voters}", f"{part['leader_id']}")


@check("admin/features-unknown", "KIP-584", level=SHOULD, needs={"UpdateFeatures": 1})
async def features_unknown(broker: Broker) -> None:
    """An update of an unknown feature is refused."""
    update = {"feature": "no.such.feature", "max_version_level": 1, "upgrade_type": 1}
    response = await broker.send("UpdateFeatures", feature_updates=[update], validate_only=True)
    errors = [
        response["error_code"],
        *(row["error_code"] for row in response.body.get("results") or ()),
    ]
    if not any(error not in ("NONE", 0) for error in errors):
        raise response.failed("error_code", "an error", f"{errors}")


def _user(name: str) -> list[dict[str, Any]]:
    return [{"entity_type": "user", "entity_name": name}]


async def _quota(broker: Broker, user: str, value: float, *, remove: bool = False) -> Response:
    """Set or remove the byte rate of a user's producers, and return the entry."""
    change = {"key": BYTE_RATE, "value": value, "remove": remove}
    response = await broker.send(
        "AlterClientQuotas", entries=[{"entity": _user(user), "ops": [change]}], validate_only=False
    )
    return response.at("entries[0]")


async def _becomes(broker: Broker, user: str, expected: float | None) -> None:
    """Expect that a user's byte rate has a value, or none, within 5 s."""
    deadline = await Now() + 5
    while True:
        response = await broker.send(
            "DescribeClientQuotas",
            components=[{"entity_type": "user", "match_type": 0, "match": user}],
            strict=True,
        )
        response.expect(error_code="NONE")
        rates = [
            row["value"]
            for entry in response["entries"] or ()
            for row in entry["values"]
            if row["key"] == BYTE_RATE
        ]
        if rates == ([] if expected is None else [expected]):
            return
        if await Now() > deadline:
            raise response.failed("entries", f"{BYTE_RATE} {expected}", f"{rates}")
        await Sleep(0.05)


@check("admin/quota-set", "KIP-546", needs={"AlterClientQuotas": 0, "DescribeClientQuotas": 0})
async def quota_set(broker: Broker) -> None:
    """A quota of a user is described after it is set, and gone after it is removed."""
    user = broker.name("user")
    (await _quota(broker, user, 12345.0)).expect(error_code="NONE")
    await _becomes(broker, user, 12345.0)
    (await _quota(broker, user, 0.0, remove=True)).expect(error_code="NONE")
    await _becomes(broker, user, None)


@check("admin/quota-unknown-key", "KIP-546", level=SHOULD, needs={"AlterClientQuotas": 0})
async def quota_unknown_key(broker: Broker) -> None:
    """An unknown quota gets INVALID_REQUEST."""
    change = {"key": "no_such_quota", "value": 1.0, "remove": False}
    entries = [{"entity": _user(broker.name("user")), "ops": [change]}]
    response = await broker.send("AlterClientQuotas", entries=entries, validate_only=True)
    response.at("entries[0]").expect(error_code="INVALID_REQUEST")


@check(
    "admin/quota-validate-only",
    "KIP-546",
    needs={"AlterClientQuotas": 0, "DescribeClientQuotas": 0},
)
async def quota_validate_only(broker: Broker) -> None:
    """A quota that is validated only is not set."""
    user = broker.name("user")
    change = {"key": BYTE_RATE, "value": 12345.0, "remove": False}
    response = await broker.send(
        "AlterClientQuotas", entries=[{"entity": _user(user), "ops": [change]}], validate_only=True
    )
    response.at("entries[0]").expect(error_code="NONE")
    await _becomes(broker, user, None)


async def _scram(broker: Broker, user: str, iterations: int) -> Response:
    """Create a SCRAM credential, and return the user's result."""
    credential = {
        "name": user,
        "mechanism": SHA_256,
        "iterations": iterations,
        "salt": b"salt",
        "salted_password": b"password",
    }
    response = await broker.send("AlterUserScramCredentials", deletions=[], upsertions=[credential])
    return response.at("results[0]").expect(user=user)


SCRAM: Final = {"AlterUserScramCredentials": 0, "DescribeUserScramCredentials": 0}


@check("admin/scram-set", "KIP-554", needs=SCRAM)
async def scram_set(broker: Broker) -> None:
    """A SCRAM credential is described with mechanism and iterations, and deleted."""
    user = broker.name("user")
    (await _scram(broker, user, FEWEST)).expect(error_code="NONE")
    deadline = await Now() + 5
    while True:
        response = await broker.send("DescribeUserScramCredentials", users=[{"name": user}])
        part = response.at("results[0]")
        if part["error_code"] == "NONE" or await Now() > deadline:
            break
        await Sleep(0.05)
    part.expect(user=user).at("credential_infos[0]").expect(mechanism=SHA_256, iterations=FEWEST)
    deletion = {"name": user, "mechanism": SHA_256}
    response = await broker.send("AlterUserScramCredentials", deletions=[deletion], upsertions=[])
    response.at("results[0]").expect(error_code="NONE")


@check("admin/scram-few-iterations", "KIP-554", needs=SCRAM)
async def scram_few_iterations(broker: Broker) -> None:
    """A SCRAM credential with too few iterations gets UNACCEPTABLE_CREDENTIAL."""
    part = await _scram(broker, broker.name("user"), FEWEST - 1)
    part.expect(error_code="UNACCEPTABLE_CREDENTIAL")


@check("admin/scram-unknown-user", "KIP-554", needs=SCRAM)
async def scram_unknown_user(broker: Broker) -> None:
    """An unknown user gets RESOURCE_NOT_FOUND."""
    users = [{"name": broker.name("user")}]
    response = await broker.send("DescribeUserScramCredentials", users=users)
    response.at("results[0]").expect(error_code="RESOURCE_NOT_FOUND")


@check(
    "admin/producers", "KIP-664", needs={"DescribeProducers": 0, "InitProducerId": 0, "Produce": 3}
)
async def producers(broker: Broker) -> None:
    """DescribeProducers returns id, epoch and last sequence number of a partition's producers."""
    topic = await broker.topic()
    made = await broker.send(
        "InitProducerId",
        transactional_id=None,
        transaction_timeout_ms=60_000,
        producer_id=-1,
        producer_epoch=-1,
    )
    producer_id = made.expect(error_code="NONE")["producer_id"]
    await produced(
        broker,
        topic,
        "a",
        "b",
        time_ms=broker.time_ms,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=0,
    )
    response = await (await broker.leader(topic)).send(
        "DescribeProducers", topics=[{"name": topic, "partition_indexes": [0]}]
    )
    part = response.at("topics[0].partitions[0]").expect(error_code="NONE")
    part.at("active_producers[0]").expect(
        producer_id=producer_id, producer_epoch=0, last_sequence=1, current_txn_start_offset=-1
    )


@check("admin/producers-unknown-topic", "KIP-664", needs={"DescribeProducers": 0})
async def producers_unknown_topic(broker: Broker) -> None:
    """DescribeProducers of an unknown topic gets UNKNOWN_TOPIC_OR_PARTITION."""
    topics = [{"name": broker.name("topic"), "partition_indexes": [0]}]
    response = await broker.send("DescribeProducers", topics=topics)
    response.at("topics[0].partitions[0]").expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


CHECKS: Final[tuple[Check, ...]] = (
    log_dirs_grow,
    quorum_leader,
    features_unknown,
    quota_set,
    quota_unknown_key,
    quota_validate_only,
    scram_set,
    scram_few_iterations,
    scram_unknown_user,
    producers,
    producers_unknown_topic,
)

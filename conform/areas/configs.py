"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs of topics and brokers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, SHOULD, Check, check
from barnabas.conform.expectations import AtLeast, Not, OneOf
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response

TOPIC: Final = 2
BROKER: Final = 4
GROUP: Final = 32
"""Resource types (ConfigResource.Type)."""

SET: Final = 0
DELETE: Final = 1
APPEND: Final = 2
SUBTRACT: Final = 3
"""Operations of IncrementalAlterConfigs (AlterConfigOp.OpType)."""

NEEDS: Final = {"DescribeConfigs": 0, "CreateTopics": 0}
CHANGES: Final = {"IncrementalAlterConfigs": 0, **NEEDS}


async def describe(
    broker: Broker, name: str, keys: Sequence[str] | None = None, kind: int = TOPIC, **fields: Any
) -> Response:
    """Describe the configs of a resource, and return its part of the response."""
    resource = {"resource_type": kind, "resource_name": name, "configuration_keys": keys}
    usual = {"include_synonyms": False, "include_documentation": False}
    response = await broker.send("DescribeConfigs", resources=[resource], **{**usual, **fields})
    return response.at("results[0]")


def config_named(described: Response, name: str) -> Response:
    """Return one config. Raises Failed if it is missing."""
    for index, row in enumerate(described["configs"]):
        if row["name"] == name:
            return described.at(f"configs[{index}]")
    raise described.failed("configs", name, f"{len(described['configs'])} others")


async def alter(
    broker: Broker, topic: str, *changes: tuple[str, int, str | None], validate_only: bool = False
) -> Response:
    """Change configs of a topic, and return its part of the response."""
    configs = [
        {"name": name, "config_operation": operation, "value": value}
        for name, operation, value in changes
    ]
    resource = {"resource_type": TOPIC, "resource_name": topic, "configs": configs}
    response = await broker.send(
        "IncrementalAlterConfigs", resources=[resource], validate_only=validate_only
    )
    return response.at("responses[0]")


async def becomes(broker: Broker, topic: str, name: str, value: Any) -> None:
    """Expect that a config has a value, within 5 s: changes take effect by and by."""
    deadline = await Now() + 5
    while True:
        config = config_named(await describe(broker, topic, [name]), name)
        if config["value"] == value or await Now() > deadline:
            config.expect(value=value)
            return
        await Sleep(0.05)


@check("configs/topic-complete", "KIP-133, TopicConfig", level=SHOULD, needs=NEEDS)
async def topic_complete(broker: Broker) -> None:
    """All configs of a topic are described if the request names none."""
    described = await describe(broker, await broker.topic())
    described.expect(error_code="NONE")
    for name in ("cleanup.policy", "max.message.bytes", "min.insync.replicas", "retention.ms"):
        config_named(described, name).expect(value=Not(None))


@check("configs/topic-keys", "KIP-133, configuration_keys", needs=NEEDS, each="DescribeConfigs")
async def topic_keys(broker: Broker) -> None:
    """Only the configs that the request names are described."""
    described = await describe(broker, await broker.topic(), ["retention.ms"])
    names = [row["name"] for row in described["configs"]]
    if names != ["retention.ms"]:
        raise described.failed("configs", "retention.ms alone", f"{names}")


@check("configs/topic-value", "KIP-133", needs=NEEDS)
async def topic_value(broker: Broker) -> None:
    """A config that was set when the topic was created is described with its value."""
    topic = await broker.topic(retention_ms="123456")
    config_named(await describe(broker, topic, ["retention.ms"]), "retention.ms").expect(
        value="123456"
    )


@check("configs/topic-unknown", "ConfigAdminManager, KafkaApis", needs={"DescribeConfigs": 0})
async def topic_unknown(broker: Broker) -> None:
    """Configs of an unknown topic get UNKNOWN_TOPIC_OR_PARTITION."""
    described = await describe(broker, broker.name("topic"))
    described.expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check("configs/topic-invalid-name", "Topic.validate", level=SHOULD, needs={"DescribeConfigs": 0})
async def topic_invalid_name(broker: Broker) -> None:
    """Configs of a topic with an invalid name get INVALID_TOPIC_EXCEPTION."""
    described = await describe(broker, "bad name!")
    described.expect(error_code=OneOf("INVALID_TOPIC_EXCEPTION", "UNKNOWN_TOPIC_OR_PARTITION"))


@check("configs/broker", "KIP-133", needs={"DescribeConfigs": 0})
async def broker_configs(broker: Broker) -> None:
    """The broker describes its own configs: at least one."""
    node = (await broker.metadata())["brokers[0].node_id"]
    described = await describe(broker, str(node), kind=BROKER)
    described.expect(error_code="NONE")
    if not described["configs"]:
        raise described.failed("configs", "configs of the broker", "none")


@check(
    "configs/broker-other", "KafkaApis, ConfigHelper", level=SHOULD, needs={"DescribeConfigs": 0}
)
async def broker_other(broker: Broker) -> None:
    """Configs of a broker that does not exist get INVALID_REQUEST."""
    (await describe(broker, "123456", kind=BROKER)).expect(error_code="INVALID_REQUEST")


@check("configs/unknown-type", "ConfigHelper", level=SHOULD, needs={"DescribeConfigs": 0})
async def unknown_type(broker: Broker) -> None:
    """An unknown resource type gets INVALID_REQUEST."""
    described = await describe(broker, "x", kind=77)
    described.expect(error_code=OneOf("INVALID_REQUEST", "UNSUPPORTED_VERSION"))


@check("configs/synonyms", "KIP-226", level=SHOULD, needs={"DescribeConfigs": 1, "CreateTopics": 0})
async def synonyms(broker: Broker) -> None:
    """Synonyms are listed if requested, the topic's own value first."""
    topic = await broker.topic(retention_ms="123456")
    config = config_named(
        await describe(broker, topic, ["retention.ms"], include_synonyms=True), "retention.ms"
    )
    config.at("synonyms[0]").expect(name="retention.ms", value="123456", source=1)
    plain = config_named(await describe(broker, topic, ["retention.ms"]), "retention.ms")
    plain.expect(synonyms=[])


@check("configs/sensitive", "KIP-133, is_sensitive", needs={"DescribeConfigs": 0})
async def sensitive(broker: Broker) -> None:
    """The value of a sensitive config is null."""
    node = (await broker.metadata())["brokers[0].node_id"]
    described = await describe(broker, str(node), kind=BROKER)
    for index, row in enumerate(described["configs"]):
        if row["is_sensitive"]:
            described.at(f"configs[{index}]").expect(value=None)


@check(
    "configs/type-and-documentation",
    "KIP-569",
    level=INFO,
    needs={"DescribeConfigs": 3, "CreateTopics": 0},
)
async def type_and_documentation(broker: Broker) -> None:
    """A config has its type, and its documentation if requested."""
    topic = await broker.topic()
    version = broker.version("DescribeConfigs", 3)
    resource = {
        "resource_type": TOPIC,
        "resource_name": topic,
        "configuration_keys": ["retention.ms"],
    }
    response = await broker.send(
        "DescribeConfigs", version, resources=[resource], include_documentation=True
    )
    config = config_named(response.at("results[0]"), "retention.ms")
    config.expect(config_type=5, documentation=Not(None))


@check("configs/set-and-delete", "KIP-339", needs=CHANGES)
async def set_and_delete(broker: Broker) -> None:
    """SET changes a config, and DELETE restores its default."""
    topic = await broker.topic()
    default = config_named(
        await describe(broker, topic, ["max.message.bytes"]), "max.message.bytes"
    )["value"]
    (await alter(broker, topic, ("max.message.bytes", SET, "123456"))).expect(error_code="NONE")
    await becomes(broker, topic, "max.message.bytes", "123456")
    (await alter(broker, topic, ("max.message.bytes", DELETE, None))).expect(error_code="NONE")
    await becomes(broker, topic, "max.message.bytes", default)


@check("configs/append", "KIP-339", needs=CHANGES)
async def append(broker: Broker) -> None:
    """APPEND adds to a list, whose base is the default value."""
    topic = await broker.topic()
    (await alter(broker, topic, ("cleanup.policy", APPEND, "compact"))).expect(error_code="NONE")
    await becomes(broker, topic, "cleanup.policy", "delete,compact")


@check("configs/subtract", "KIP-339", needs=CHANGES)
async def subtract(broker: Broker) -> None:
    """SUBTRACT removes from a list."""
    topic = await broker.topic(cleanup_policy="compact,delete")
    (await alter(broker, topic, ("cleanup.policy", SUBTRACT, "delete"))).expect(error_code="NONE")
    await becomes(broker, topic, "cleanup.policy", "compact")


@check("configs/append-to-number", "KIP-339", needs=CHANGES)
async def append_to_number(broker: Broker) -> None:
    """APPEND to a config that is not a list gets INVALID_CONFIG or INVALID_REQUEST."""
    part = await alter(broker, await broker.topic(), ("retention.ms", APPEND, "1"))
    part.expect(error_code=OneOf("INVALID_CONFIG", "INVALID_REQUEST"))


@check("configs/twice-in-request", "KIP-339", needs=CHANGES)
async def twice_in_request(broker: Broker) -> None:
    """A config that stands twice in one request gets INVALID_REQUEST."""
    changes = [("retention.ms", SET, "1000"), ("retention.ms", SET, "2000")]
    (await alter(broker, await broker.topic(), *changes)).expect(error_code="INVALID_REQUEST")


@check("configs/invalid-value", "KIP-339, LogConfig.validate", needs=CHANGES)
async def invalid_value(broker: Broker) -> None:
    """A value that is not a number where one is needed is refused, and changes nothing.

    Brokers with ZooKeeper answer INVALID_REQUEST, others INVALID_CONFIG.
    """
    topic = await broker.topic(retention_ms="123456")
    part = await alter(broker, topic, ("retention.ms", SET, "abc"))
    part.expect(error_code=OneOf("INVALID_CONFIG", "INVALID_REQUEST"))
    config_named(await describe(broker, topic, ["retention.ms"]), "retention.ms").expect(
        value="123456"
    )


@check("configs/validate-only", "KIP-339, validate_only", needs=CHANGES)
async def validate_only(broker: Broker) -> None:
    """A change that is validated only succeeds and changes nothing."""
    topic = await broker.topic(retention_ms="123456")
    part = await alter(broker, topic, ("retention.ms", SET, "1000"), validate_only=True)
    part.expect(error_code="NONE")
    config_named(await describe(broker, topic, ["retention.ms"]), "retention.ms").expect(
        value="123456"
    )


@check("configs/unknown-topic-change", "KIP-339", needs={"IncrementalAlterConfigs": 0})
async def unknown_topic_change(broker: Broker) -> None:
    """Changing configs of an unknown topic gets UNKNOWN_TOPIC_OR_PARTITION."""
    part = await alter(broker, broker.name("topic"), ("retention.ms", SET, "1000"))
    part.expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check(
    "configs/alter-replaces",
    "KIP-133, AlterConfigsRequest.json",
    needs={"AlterConfigs": 0, **NEEDS},
)
async def alter_replaces(broker: Broker) -> None:
    """AlterConfigs restores the default of each config that the request does not name."""
    topic = await broker.topic(retention_ms="123456", max_message_bytes="2000")
    configs = [{"name": "max.message.bytes", "value": "3000"}]
    resource = {"resource_type": TOPIC, "resource_name": topic, "configs": configs}
    response = await broker.send("AlterConfigs", resources=[resource], validate_only=False)
    response.at("responses[0]").expect(error_code="NONE")
    await becomes(broker, topic, "max.message.bytes", "3000")
    config = config_named(await describe(broker, topic, ["retention.ms"]), "retention.ms")
    config.expect(value=Not("123456"))


@check(
    "configs/group",
    "KIP-848, GroupConfig",
    level=INFO,
    needs={"DescribeConfigs": 4, "ConsumerGroupHeartbeat": 0},
    since="4.0.0",
)
async def group(broker: Broker) -> None:
    """Groups have configs of their own, such as consumer.session.timeout.ms."""
    described = await describe(broker, broker.name("group"), kind=GROUP)
    described.expect(error_code="NONE")
    config_named(described, "consumer.session.timeout.ms").expect(value=Not(None))


@check("configs/list-resources", "KIP-1142", needs={"ListConfigResources": 1, "CreateTopics": 0})
async def list_resources(broker: Broker) -> None:
    """ListConfigResources lists topics if the request names their type."""
    topic = await broker.topic()
    version = broker.version("ListConfigResources", 1)
    response = await broker.send("ListConfigResources", version, resource_types=[TOPIC])
    response.expect(error_code="NONE")
    names = [row["resource_name"] for row in response["config_resources"]]
    if topic not in names:
        raise response.failed("config_resources", topic, f"{len(names)} others")


@check("configs/read-only", "KIP-226, read_only", level=INFO, needs={"DescribeConfigs": 1})
async def read_only(broker: Broker) -> None:
    """The broker's id is a read-only config."""
    node = (await broker.metadata())["brokers[0].node_id"]
    described = await describe(broker, str(node), ["node.id", "broker.id"], kind=BROKER)
    if not described["configs"]:
        raise described.failed("configs", "node.id or broker.id", "none")
    described.at("configs[0]").expect(read_only=True, config_source=AtLeast(0))


CHECKS: Final[tuple[Check, ...]] = (
    topic_complete,
    topic_keys,
    topic_value,
    topic_unknown,
    topic_invalid_name,
    broker_configs,
    broker_other,
    unknown_type,
    synonyms,
    sensitive,
    type_and_documentation,
    set_and_delete,
    append,
    subtract,
    append_to_number,
    twice_in_request,
    invalid_value,
    validate_only,
    unknown_topic_change,
    alter_replaces,
    group,
    list_resources,
    read_only,
)

"""DescribeConfigs and IncrementalAlterConfigs: sources, several resources, refused values, effects."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.areas.configs import (
    APPEND,
    CHANGES,
    NEEDS,
    SET,
    TOPIC,
    alter,
    becomes,
    config_named,
    describe,
)
from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import OneOf
from barnabas.conform.logs import batch, produce
from barnabas.conform.operations import Now, Sleep

OF_TOPIC: Final = 1
DEFAULT: Final = 5
"""Sources of a config (DescribeConfigsResponse.ConfigSource)."""

DEFAULTS: Final = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "delete.retention.ms": "86400000",
    "max.message.bytes": "1048588",
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "1",
    "retention.bytes": "-1",
    "segment.bytes": "1073741824",
}
"""Values of configs that Kafka's documentation gives as defaults."""

REFUSED: Final = OneOf("INVALID_CONFIG", "INVALID_REQUEST")


@check("configs/sources", "KIP-226", needs={**NEEDS, "DescribeConfigs": 1})
async def sources(broker: Broker) -> None:
    """A config that the topic has set comes from the topic, and another one is a default."""
    topic = await broker.topic(max_message_bytes="123456")
    described = await describe(broker, topic, ["max.message.bytes", "retention.bytes"])
    config_named(described, "max.message.bytes").expect(config_source=OF_TOPIC)
    config_named(described, "retention.bytes").expect(config_source=DEFAULT)


@check("configs/defaults", "TopicConfig", level=SHOULD, needs=NEEDS)
async def defaults(broker: Broker) -> None:
    """Configs of a topic that sets none have the defaults of Kafka's documentation."""
    described = await describe(broker, await broker.topic(), list(DEFAULTS))
    for name, value in DEFAULTS.items():
        config_named(described, name).expect(value=value)


@check("configs/describe-several", "DescribeConfigsResponse.json", needs=NEEDS)
async def describe_several(broker: Broker) -> None:
    """Each resource of a DescribeConfigs gets its own configs or error."""
    topic, unknown = await broker.topic(), broker.name("topic")
    resources = [
        {"resource_type": TOPIC, "resource_name": name, "configuration_keys": ["retention.ms"]}
        for name in (unknown, topic)
    ]
    response = await broker.send(
        "DescribeConfigs",
        resources=resources,
        include_synonyms=False,
        include_documentation=False,
    )
    parts = {
        row["resource_name"]: response.at(f"results[{index}]")
        for index, row in enumerate(response["results"])
    }
    if set(parts) != {topic, unknown}:
        raise response.failed("results", f"{topic} and {unknown}", f"{sorted(parts)}")
    parts[unknown].expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")
    config_named(parts[topic].expect(error_code="NONE"), "retention.ms").expect(value="-1")


@check("configs/alter-several", "IncrementalAlterConfigsResponse.json", needs=CHANGES)
async def alter_several(broker: Broker) -> None:
    """Each resource of an IncrementalAlterConfigs is changed, or gets its own error."""
    topic, unknown = await broker.topic(), broker.name("topic")
    config = {"name": "retention.ms", "config_operation": SET, "value": "123456789"}
    resources = [
        {"resource_type": TOPIC, "resource_name": name, "configs": [config]}
        for name in (unknown, topic)
    ]
    response = await broker.send(
        "IncrementalAlterConfigs", resources=resources, validate_only=False
    )
    received = {
        row["resource_name"]: response[f"responses[{index}].error_code"]
        for index, row in enumerate(response["responses"])
    }
    expected = {topic: "NONE", unknown: "UNKNOWN_TOPIC_OR_PARTITION"}
    if received != expected:
        raise response.failed("responses", f"{expected}", f"{received}")
    await becomes(broker, topic, "retention.ms", "123456789")


@check("configs/unknown-name", "LogConfig.validate", level=SHOULD, needs=CHANGES)
async def unknown_name(broker: Broker) -> None:
    """A config that topics do not have is refused."""
    part = await alter(broker, await broker.topic(), ("no.such.config", SET, "1"))
    part.expect(error_code=REFUSED)


@check("configs/null-value", "ConfigurationControlManager", level=SHOULD, needs=CHANGES)
async def null_value(broker: Broker) -> None:
    """SET with a null value is refused."""
    part = await alter(broker, await broker.topic(), ("retention.ms", SET, None))
    part.expect(error_code=REFUSED)


@check("configs/out-of-range", "LogConfig", needs=CHANGES)
async def out_of_range(broker: Broker) -> None:
    """Values that a config can't have are refused: an unknown policy, a negative size."""
    topic = await broker.topic()
    for name, value in (("cleanup.policy", "burn"), ("max.message.bytes", "-5")):
        (await alter(broker, topic, (name, SET, value))).expect(error_code=REFUSED)


@check("configs/append-again", "KIP-339", level=SHOULD, needs=CHANGES)
async def append_again(broker: Broker) -> None:
    """APPEND of a value that the list has already changes nothing."""
    topic = await broker.topic()
    (await alter(broker, topic, ("cleanup.policy", APPEND, "delete"))).expect(error_code="NONE")
    described: Any = await describe(broker, topic, ["cleanup.policy"])
    config_named(described, "cleanup.policy").expect(value="delete")


@check("configs/takes-effect", "KIP-339, max.message.bytes", needs={**CHANGES, "Produce": 3})
async def takes_effect(broker: Broker) -> None:
    """A changed max.message.bytes applies to the records that follow, within 5 s."""
    topic, data = await broker.topic(), batch("x" * 1000)
    (await produce(broker, topic, data)).expect(error_code="NONE")
    (await alter(broker, topic, ("max.message.bytes", SET, "500"))).expect(error_code="NONE")
    deadline = await Now() + 5
    while True:
        response = await produce(broker, topic, data)
        if response["error_code"] != "NONE" or await Now() > deadline:
            response.expect(error_code="MESSAGE_TOO_LARGE")
            return
        await Sleep(0.1)


CHECKS: Final[tuple[Check, ...]] = (
    sources,
    defaults,
    describe_several,
    alter_several,
    unknown_name,
    null_value,
    out_of_range,
    append_again,
    takes_effect,
)

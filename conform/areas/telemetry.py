"""Metrics of clients (KIP-714): subscriptions, pushes, refusals."""

from __future__ import annotations

import uuid
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.cleanup import CLIENT_METRICS
from barnabas.conform.client_ids import send_as
from barnabas.conform.connection import SETTLE_S
from barnabas.conform.expectations import AtLeast, Not
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response

KIP: Final = "KIP-714"
NEEDS: Final = {"GetTelemetrySubscriptions": 0, "PushTelemetry": 0}

NO_ID: Final = uuid.UUID(int=0)
"""Requests an id of a client."""


def _instance(broker: Broker, number: int = 0) -> uuid.UUID:
    """Return a client's id of the check's own."""
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{broker.prefix} {number}")


async def _subscriptions(broker: Broker, instance: uuid.UUID) -> Response:
    return await broker.send("GetTelemetrySubscriptions", client_instance_id=instance)


async def _push(broker: Broker, instance: uuid.UUID, subscription: int, **fields: Any) -> Response:
    return await broker.send(
        "PushTelemetry",
        **{
            "client_instance_id": instance,
            "subscription_id": subscription,
            "terminating": False,
            "compression_type": 0,
            "metrics": b"",
            **fields,
        },
    )


@check("telemetry/subscribe", KIP, needs=NEEDS)
async def subscribe(broker: Broker) -> None:
    """A client without id gets one, with interval, largest size and codecs of its pushes."""
    response = (await _subscriptions(broker, NO_ID)).expect(
        error_code="NONE",
        client_instance_id=Not(NO_ID),
        push_interval_ms=AtLeast(1),
        telemetry_max_bytes=AtLeast(1),
    )
    response.at("accepted_compression_types[0]")


@check("telemetry/subscribe-again", KIP, needs=NEEDS)
async def subscribe_again(broker: Broker) -> None:
    """A client with an id gets the same id."""
    instance = _instance(broker)
    response = await _subscriptions(broker, instance)
    response.expect(error_code="NONE", client_instance_id=instance)


@check("telemetry/subscribe-too-soon", KIP, needs=NEEDS)
async def subscribe_too_soon(broker: Broker) -> None:
    """A second request of a client before its interval has passed gets THROTTLING_QUOTA_EXCEEDED."""
    instance = _instance(broker)
    (await _subscriptions(broker, instance)).expect(error_code="NONE")
    (await _subscriptions(broker, instance)).expect(error_code="THROTTLING_QUOTA_EXCEEDED")


@check("telemetry/different-ids", KIP, needs=NEEDS)
async def different_ids(broker: Broker) -> None:
    """Two clients without id get different ids."""
    first, second = [await _subscriptions(broker, NO_ID) for _ in range(2)]
    second.expect(error_code="NONE", client_instance_id=Not(first["client_instance_id"]))


@check("telemetry/push", KIP, needs=NEEDS)
async def push(broker: Broker) -> None:
    """A push with the id of the subscription gets NONE."""
    instance = _instance(broker)
    response = (await _subscriptions(broker, instance)).expect(error_code="NONE")
    (await _push(broker, instance, response["subscription_id"])).expect(error_code="NONE")


@check("telemetry/push-too-soon", KIP, needs=NEEDS)
async def push_too_soon(broker: Broker) -> None:
    """A second push before the interval has passed gets THROTTLING_QUOTA_EXCEEDED."""
    instance = _instance(broker)
    subscription = (await _subscriptions(broker, instance))["subscription_id"]
    (await _push(broker, instance, subscription)).expect(error_code="NONE")
    response = await _push(broker, instance, subscription)
    response.expect(error_code="THROTTLING_QUOTA_EXCEEDED")


@check("telemetry/push-wrong-subscription", KIP, needs=NEEDS)
async def push_wrong_subscription(broker: Broker) -> None:
    """A push with another id of a subscription gets UNKNOWN_SUBSCRIPTION_ID."""
    instance = _instance(broker)
    subscription = (await _subscriptions(broker, instance))["subscription_id"]
    response = await _push(broker, instance, subscription ^ 1)
    response.expect(error_code="UNKNOWN_SUBSCRIPTION_ID")


@check("telemetry/push-first", KIP, needs=NEEDS)
async def push_first(broker: Broker) -> None:
    """A push of a client that has requested no subscription gets UNKNOWN_SUBSCRIPTION_ID."""
    response = await _push(broker, _instance(broker), 99)
    response.expect(error_code="UNKNOWN_SUBSCRIPTION_ID")


@check("telemetry/push-without-id", KIP, needs=NEEDS)
async def push_without_id(broker: Broker) -> None:
    """A push without id of the client gets INVALID_REQUEST."""
    (await _push(broker, NO_ID, 0)).expect(error_code="INVALID_REQUEST")


@check("telemetry/push-unknown-codec", KIP, needs=NEEDS)
async def push_unknown_codec(broker: Broker) -> None:
    """A push with an unknown codec gets UNSUPPORTED_COMPRESSION_TYPE."""
    instance = _instance(broker)
    subscription = (await _subscriptions(broker, instance))["subscription_id"]
    response = await _push(broker, instance, subscription, compression_type=99)
    response.expect(error_code="UNSUPPORTED_COMPRESSION_TYPE")


@check("telemetry/push-too-large", KIP, needs=NEEDS)
async def push_too_large(broker: Broker) -> None:
    """A push that exceeds the largest size gets TELEMETRY_TOO_LARGE."""
    instance = _instance(broker)
    response = await _subscriptions(broker, instance)
    size = response["telemetry_max_bytes"] + 1
    response = await _push(broker, instance, response["subscription_id"], metrics=bytes(size))
    response.expect(error_code="TELEMETRY_TOO_LARGE")


@check("telemetry/push-after-last", KIP, needs=NEEDS)
async def push_after_last(broker: Broker) -> None:
    """A push after the client's last one (terminating) gets INVALID_REQUEST."""
    instance = _instance(broker)
    subscription = (await _subscriptions(broker, instance))["subscription_id"]
    response = await _push(broker, instance, subscription, terminating=True)
    response.expect(error_code="NONE")
    response = await _push(broker, instance, subscription, terminating=True)
    response.expect(error_code="INVALID_REQUEST")


@check(
    "telemetry/requested-metrics",
    KIP,
    needs={**NEEDS, "IncrementalAlterConfigs": 0},
    alone=True,  # Kafka forgets what clients did when a subscription is added
)
async def requested_metrics(broker: Broker) -> None:
    """A client whose id matches a subscription gets its metrics and interval, others do not."""
    name = broker.name("client-metrics")
    configs = {
        "metrics": "org.apache.kafka.producer.",
        "interval.ms": "12345",
        "match": f"client_id={name}",
    }
    rows = [{"name": key, "value": value, "config_operation": 0} for key, value in configs.items()]
    resource = {"resource_type": CLIENT_METRICS, "resource_name": name, "configs": rows}
    response = await broker.send(
        "IncrementalAlterConfigs", resources=[resource], validate_only=False
    )
    response.at("responses[0]").expect(error_code="NONE")
    deadline, number = await Now() + SETTLE_S, 0
    while True:
        number += 1
        response = await send_as(
            broker.main,
            name,
            "GetTelemetrySubscriptions",
            client_instance_id=_instance(broker, number),
        )
        if response["requested_metrics"] or await Now() > deadline:
            break
        await Sleep(0.05)
    response.expect(requested_metrics=[configs["metrics"]], push_interval_ms=12345)
    other = await _subscriptions(broker, _instance(broker))
    if configs["metrics"] in other["requested_metrics"]:
        raise other.failed("requested_metrics", "not these", f"{other['requested_metrics']}")


CHECKS: Final[tuple[Check, ...]] = (
    subscribe,
    subscribe_again,
    subscribe_too_soon,
    different_ids,
    push,
    push_too_soon,
    push_wrong_subscription,
    push_first,
    push_without_id,
    push_unknown_codec,
    push_too_large,
    push_after_last,
    requested_metrics,
)

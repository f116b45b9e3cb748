"""A session of an administrator: configs of every type of resource, of which each has one that is set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from barnabas.fuzz.generators.resources import CONFIG_RESOURCES
from barnabas.fuzz.sessions.bodies import GROUP_ID, body
from barnabas.fuzz.sessions.session import TOPIC, Session, Stage, Steps
from barnabas.fuzz.sessions.steps import send_request, topic
from barnabas.specs import keys

METRICS: Final = "fuzz-metrics"
INVALID_REQUEST: Final = 42
_SET: Final = 0

RESOURCES: Final = (
    ("TOPIC", TOPIC, "flush.messages", "1000"),
    ("BROKER", "1", "log.cleaner.backoff.ms", "15000"),
    ("BROKER", "", "log.cleaner.backoff.ms", "15000"),
    ("BROKER_LOGGER", "1", "org.apache.kafka.server.logger.LoggingController", "ERROR"),
    ("CLIENT_METRICS", METRICS, "interval.ms", "60000"),
    ("GROUP", GROUP_ID, "consumer.heartbeat.interval.ms", "5000"),
)
"""Types of resources, names, and a config that may have any value without harm to other cases.

A broker without a name is the default of all brokers. The broker's id is a live value.
"""

_SET_BEFORE: Final = ("TOPIC", "CLIENT_METRICS", "GROUP")
"""Types of which a config is set, so that the resource exists and its config has a source of its own."""


def _bodies(kind: str, name: str, config: str, value: str) -> dict[int, dict[str, Any]]:
    """Return the bodies about a resource: to describe it, and to change a config in both ways."""
    resource = {"resource_type": CONFIG_RESOURCES[kind], "resource_name": name}
    change = {"name": config, "value": value, "config_operation": _SET}
    changed = {**resource, "configs": [change]}
    return {
        keys.DESCRIBE_CONFIGS: {"resources": [{**resource, "configuration_keys": [config]}]},
        keys.ALTER_CONFIGS: {"resources": [changed], "validate_only": True},
        keys.INCREMENTAL_ALTER_CONFIGS: {"resources": [changed], "validate_only": False},
        keys.LIST_CONFIG_RESOURCES: {"resource_types": [CONFIG_RESOURCES[kind]]},
    }


def _configure(stage: Stage) -> Steps:
    """Set a config of a topic, of clients' metrics and of a group, and get the broker's id."""
    live = dict((yield from topic(stage)))
    cluster = yield from send_request(stage, keys.METADATA)
    for kind, name, config, value in RESOURCES:
        if kind in _SET_BEFORE:
            changes = _bodies(kind, name, config, value)[keys.INCREMENTAL_ALTER_CONFIGS]
            fine = (0, INVALID_REQUEST)  # older brokers lack the type
            yield from send_request(stage, keys.INCREMENTAL_ALTER_CONFIGS, fine=fine, **changes)
    node_ids = [broker["node_id"] for broker in cluster.get("brokers", ())]
    return {**live, "resource_name": str(node_ids[0] if node_ids else 1)}


def _others(key: int, version: int) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Yield a request about each resource."""
    for kind, name, config, value in RESOURCES:
        request = body(key, version, **_bodies(kind, name, config, value)[key])
        if request is not None:
            yield f"{kind}{' default' if kind == 'BROKER' and not name else ''}", request


CONFIGURING: Final = Session(
    "configuring",
    "an administrator, with configs of every type of resource",
    (keys.INCREMENTAL_ALTER_CONFIGS,),
    frozenset(
        (
            keys.DESCRIBE_CONFIGS,
            keys.ALTER_CONFIGS,
            keys.INCREMENTAL_ALTER_CONFIGS,
            keys.LIST_CONFIG_RESOURCES,
        )
    ),
    100,
    _configure,
    lambda key, version: None,
    _others,
    newest_only=True,
)

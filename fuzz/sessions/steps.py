"""Steps that several sessions share."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Generator, Iterator, Mapping
from typing import Any

from barnabas.fuzz.generators.resources import CONFIG_RESOURCES
from barnabas.fuzz.sessions.bodies import body
from barnabas.fuzz.sessions.session import TOPIC, Request, Stage, Stuck
from barnabas.specs import keys
from barnabas.specs.error_codes import error_name
from barnabas.specs.registry import NAMES

Step = Generator[Request, Mapping[str, Any], Mapping[str, Any]]


def send_request(
    stage: Stage, key: int, most: int = 32767, *, fine: Collection[int] = (0,), **changes: Any
) -> Step:
    """Send a valid request in the newest version, and return the response.

    fine: the error codes that the response may have, in any structure. Raises Stuck for another one.
    """
    version = stage.version(key, most)
    request_body = body(key, version, **changes)
    assert request_body is not None  # noqa: S101
    answer = yield Request(key, version, request_body)
    for code in error_codes(answer):
        if code not in fine:
            raise Stuck(f"{NAMES[key]} v{version} was answered with {error_name(code)}")
    return answer


def error_codes(answer: Any) -> Iterator[int]:
    """Yield the error codes of a response, also those of its partitions and of other structures.

    >>> list(error_codes({"topics": [{"error_code": 3}], "error_code": 0}))
    [3, 0]
    """
    if isinstance(answer, Mapping):
        for name, value in answer.items():
            if name.endswith("error_code"):
                yield value
            elif isinstance(value, list | dict):
                yield from error_codes(value)
    elif isinstance(answer, list):
        for element in answer:
            yield from error_codes(element)


def topic(stage: Stage) -> Generator[Request, Mapping[str, Any], dict[str, int | str | bytes]]:
    """Return live values of the topic: its id, if the broker has ids.

    Raises Stuck if the topic is missing.
    """
    answer = yield from send_request(stage, keys.METADATA)
    for topic_row in answer["topics"]:
        if topic_row["name"] == TOPIC and not topic_row["error_code"]:
            topic_id = topic_row.get("topic_id")
            return {"topic_id": topic_id.bytes} if topic_id else {}
    raise Stuck(f"no topic {TOPIC}")


def topic_id(live: Mapping[str, int | str | bytes]) -> uuid.UUID:
    """Return the live topic id for a body; the zero UUID if there are no ids."""
    value = live.get("topic_id")
    return uuid.UUID(bytes=value) if isinstance(value, bytes) else uuid.UUID(int=0)


def configure_group(stage: Stage, *names: str) -> Generator[Request, Mapping[str, Any], None]:
    """Set configs of the group to 0: intervals that would keep its members from their partitions."""
    configs = [{"name": name, "config_operation": 0, "value": "0"} for name in names]
    resource_type = CONFIG_RESOURCES["GROUP"]
    resource = {"resource_type": resource_type, "resource_name": stage.group_id, "configs": configs}
    yield from send_request(stage, keys.INCREMENTAL_ALTER_CONFIGS, resources=[resource])

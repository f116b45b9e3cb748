"""What tests of refused entries share: connections under one rule, and what reaches each side."""

from __future__ import annotations

import uuid
from typing import Any, Final

from barnabas.specs import api, records
from barnabas.specs.frames import Direction, request_head, response_body
from barnabas.specs.records import Record
from tests.proxy.frames import request, response
from tests.proxy.playbook import Actor, Stage

ORDERS_1: Final = "{topic: orders, partition: 1}"


TOPIC: Final = uuid.UUID(int=7)


def staged(do: str, name: str, more: str = "when: {}") -> Actor:
    """Return a connection under one rule about requests of an API."""
    match = f"{{api: {name}, direction: request}}"
    return Stage(
        f"version: 1\nrules:\n- {{name: r, match: {match}, {more}, do: {{respond: {do}}}}}\n"
    ).actor()


def bodies(actor: Actor, direction: Direction, name: str, version: int) -> list[Any]:
    """Return the bodies of an API that have reached one side."""
    declaration = api(name)
    codec = declaration.message(direction).codec(version)
    found = []
    for frame in actor.frames(direction):
        if direction == "response":
            start = 4 + response_body(frame[4:], declaration.key, version)
        else:
            head = request_head(frame, 4, len(frame))
            if head.key != declaration.key:
                continue
            start = 4 + head.body
        found.append(codec.decode(frame[start:]))
    return found


def fitted(name: str, direction: Direction, version: int, body: Any) -> dict[str, Any]:
    """Return the fields of a body that a version has."""
    return api(name).message(direction).layout(version).fitted(body)


def told(
    do: str, name: str, version: int, body: dict[str, Any], result: dict[str, Any] | None = None
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the request that the broker gets, and the response that the client gets."""
    actor = staged(do, name)
    actor.ask(request(name, 1, version=version, **fitted(name, "request", version, body)))
    if result is not None:
        answer = fitted(name, "response", version, result)
        actor.answer(response(name, 1, version=version, **answer))
    directions: tuple[Direction, Direction] = ("request", "response")
    broker, client = (bodies(actor, direction, name, version) for direction in directions)
    return broker[0] if broker else None, client[0] if client else None


def topics(name: str, inner: str, **indexes: list[Any]) -> dict[str, Any]:
    return {name: [{"name": topic, inner: items} for topic, items in indexes.items()]}


def codes(value: Any, path: str = "") -> dict[str, int]:
    """Return each error code of a response, by the names and indexes that lead to it."""
    found: dict[str, int] = {}
    for inner in value.values() if isinstance(value, dict) else ():
        if isinstance(inner, list):
            for entry in inner:
                if isinstance(entry, dict):
                    words = (entry.get(name) for name in IDENTIFYING)
                    at = f"{path}/{next((word for word in words if word is not None), '?')}"
                    found.update(codes(entry, at))
    if isinstance(value, dict) and path:
        found.update(
            (path, code) for name, code in value.items()
            if name.endswith("error_code") and name != "topic_config_error_code"
        )  # fmt: skip
    return found


IDENTIFYING: Final = (
    *("name", "topic", "partition_index", "index", "group_id", "key", "resource_name", "user"),
    *("member_id", "transactional_id", "partition"),
)


def produce(number: int = 1, acks: int = -1, **partitions: list[int]) -> bytes:
    data = {
        topic: [
            {"index": index, "records": records.build([Record(0, 0, None, b"x")])} for index in some
        ]
        for topic, some in partitions.items()
    }
    body = topics("topic_data", "partition_data", **data)
    return request("Produce", number, version=8, acks=acks, timeout_ms=9, **body)


def stored(number: int = 1, error: int = 0, **partitions: list[int]) -> bytes:
    data = {
        topic: [{"index": index, "error_code": error, "base_offset": 5} for index in some]
        for topic, some in partitions.items()
    }
    return response(
        "Produce", number, version=8, **topics("responses", "partition_responses", **data)
    )

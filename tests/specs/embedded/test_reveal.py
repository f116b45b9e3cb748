"""Everything that hides in the bodies of real frames; every place; what must never be raised."""

from __future__ import annotations

import json
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs import embedded
from barnabas.specs.embedded.reveal import MAX_BYTES
from barnabas.specs.jsonform import to_json
from barnabas.specs.layout import Layout
from tests.specs.embedded.real import FRAMES, MESSAGES, SUBSCRIPTION, Line, frame, name, topics


def body_of(line: Line) -> dict[str, Any]:
    message = specs.api(line["key"]).message(line["direction"])
    return message.codec(line["version"]).decode(bytes.fromhex(line["hex"]))


def revealed(line: Line) -> dict[str, Any]:
    """What is found if the group is known, as it is to one who saw its members join."""
    assignor = {"coop-group": "cooperative-sticky", "streams-classic": "stream"}.get(line["group"])
    assignor = assignor or ("sticky" if line["group"] in ("kp-group", "aio-group") else "range")
    return embedded.reveal(
        line["key"],
        line["direction"],
        body_of(line),
        embedded.Surroundings(protocol_type="consumer", protocol_name=assignor),
    )


@pytest.mark.parametrize("line", FRAMES, ids=name)
def test_nothing_that_real_clients_sent_is_left_unread(line: Line) -> None:
    result = revealed(line)
    assert result
    assert "unread" not in json.dumps(to_json(result))
    for path, inner in result.items():
        codec = embedded.message(inner["message"]).codec(inner["version"])
        data = inner["version"].to_bytes(2) + codec.encode(inner["values"])
        assert data in bytes.fromhex(line["hex"]), path


def test_who_is_subscribed_to_what_and_gets_what() -> None:
    joined = revealed(frame("java-CooperativeStickyAssignor", "JoinGroup", "response"))
    assert list(joined) == ["members[0].metadata", "members[1].metadata"]
    first = joined["members[0].metadata"]
    assert (first["message"], first["version"]) == ("ConsumerProtocolSubscription", 3)
    assert first["values"]["topics"] == ["orders"]
    assert first["values"]["rack_id"] == "rack-a"
    assert topics(first, "owned_partitions") == [("orders", [0])]
    assert first["inside"]["user_data"]["values"] == {"generation": 2}
    synced = revealed(frame("java-CooperativeStickyAssignor", "SyncGroup", "request"))
    assert {path: topics(part, "assigned_partitions") for path, part in synced.items()} == {
        "assignments[0].assignment": [("orders", [0])],
        "assignments[1].assignment": [("orders", [1])],
    }


def test_before_v5_a_body_does_not_say_the_protocol_type() -> None:
    line = frame("range-group", "SyncGroup", "response")
    body = body_of(line)
    assert embedded.reveal(14, "response", body) == {
        "assignment": {"unread": "nothing says the protocol type of the group", "size": 30}
    }
    for known in ({"protocol_type": "consumer"}, {"request": {"protocol_type": "consumer"}}):
        result = embedded.reveal(14, "response", body, embedded.Surroundings(**known))["assignment"]
        assert topics(result, "assigned_partitions") == [("orders", [0, 1])]


def test_without_a_name_the_assignors_data_is_not_guessed() -> None:
    body = {"assignment": bytes.fromhex("0000 00000000 00000001 ff".replace(" ", ""))}
    result = embedded.reveal(14, "response", body, embedded.Surroundings("consumer"))["assignment"]
    why = "nothing says which assignor wrote it"
    assert result["inside"] == {"user_data": {"unread": why, "size": 1}}


def test_what_the_body_says_counts_more_than_what_the_caller_says() -> None:
    body = {"protocol_type": "connect", "protocols": [{"name": "x", "metadata": SUBSCRIPTION}]}
    (found,) = embedded.reveal(11, "request", body, embedded.Surroundings("consumer")).values()
    assert found["message"] == "ConnectProtocolSubscription"


@pytest.mark.parametrize("data", [b"\0", b"\xff" * 9, bytes(16), b"\0\x03" + b"\xff" * 30])
@pytest.mark.parametrize(
    "place", embedded.BYTES_FIELDS, ids=lambda place: f"{place.message}.{place.path}"
)
def test_whatever_stands_there_nothing_is_raised(place: embedded.BytesField, data: bytes) -> None:
    """Also for names that decide: the bytes are called everything that there is a reader for."""
    for kind, assignor in (
        ("consumer", "stream"),
        ("consumer", "sticky"),
        ("connect", "x"),
        ("", ""),
    ):
        where = {"protocol_type": kind, place.named_by or "topic": assignor or "__consumer_offsets"}
        value: Any = data
        for field in reversed(place.path.split(".")):
            value = [where | {field: value}]
        body = value[0]
        for key, _, _ in specs.REGISTRY:
            if place.message.startswith(specs.NAMES[key]):
                direction: Any = "request" if place.message.endswith("Request") else "response"
                to_json(embedded.reveal(key, direction, body))


@pytest.mark.parametrize(
    "body",
    [{}, {"protocols": None}, {"protocols": [{}]}, {"protocols": [{"metadata": "<redacted>"}]}],
)
def test_what_is_not_there_hides_nothing(body: dict[str, Any]) -> None:
    assert embedded.reveal(11, "request", body) == {}
    assert embedded.reveal(999, "request", body) == {}


@pytest.mark.parametrize(
    "place", embedded.BYTES_FIELDS, ids=lambda place: f"{place.message}.{place.path}"
)
def test_every_place_is_a_field_of_bytes_and_what_names_it_stands_around_it(
    place: embedded.BytesField,
) -> None:
    seen = named = False
    path = tuple(place.path.split("."))
    for layout in layouts(place.message):
        for (*above, field), slot, _ in layout.walk():
            if (*above, field) == path:
                seen = seen or slot.node.kind in ("bytes", "records")
            named = named or (field == place.named_by and path[: len(above)] == tuple(above))
    assert seen
    assert named or not place.named_by


def layouts(message: str) -> list[Layout]:
    if message in dict(embedded.REGISTRY):
        declared = embedded.message(message)
    else:
        direction = "request" if message.endswith("Request") else "response"
        declared = specs.api(message.removesuffix(direction.capitalize())).message(direction)
    return [declared.layout(v) for v in range(declared.versions[0], declared.versions[1] + 1)]


def test_no_more_of_a_body_is_looked_into_than_the_limit() -> None:
    member = {"member_id": "m", "metadata": SUBSCRIPTION}
    fit = MAX_BYTES // len(SUBSCRIPTION)
    result = embedded.reveal(
        11, "response", {"protocol_type": "consumer", "members": [member] * (fit + 1)}
    )
    assert [path for path, one in result.items() if "unread" in one] == [f"members[{fit}].metadata"]
    assert result[f"members[{fit}].metadata"]["unread"].startswith("too large to decode")


def test_what_is_remembered_of_a_member_goes_by_all_that_decides_what_it_says() -> None:
    data = bytes.fromhex("0000 00000001 000174 00000004 00000002")
    answers = {"protocol_type": "consumer", "members": [{"member_id": "m", "metadata": data}]}
    for _ in range(2):
        for assignor, said in (("cooperative-sticky", "values"), ("range", "unread")):
            result = embedded.reveal(11, "response", answers, embedded.Surroundings(None, assignor))
            assert said in result["members[0].metadata"]["inside"]["user_data"]
        connect = embedded.reveal(11, "response", answers | {"protocol_type": "other"})
        assert "unread" in connect["members[0].metadata"]


def test_connects_workers_and_what_they_have_now() -> None:
    data = next(
        line["hex"]
        for line in MESSAGES
        if line["message"] == "ConnectProtocolSubscription" and line["version"] == 2
    )
    group = {"protocol_type": "connect", "protocol_data": "sessioned"}
    body = {"groups": [group | {"members": [{"member_metadata": bytes.fromhex(data)}]}]}
    (found,) = embedded.reveal(15, "response", body).values()
    assert (found["message"], found["version"]) == ("ConnectProtocolSubscription", 2)
    assert found["inside"]["allocation"]["values"]["delay"] == 60000

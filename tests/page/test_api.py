"""The page's calls, of a capture, with headers as browsers and others send them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.page.pages import Caller, called, shown
from tests.places import SAMPLES

TOKEN = {"Authorization": "Bearer secret"}


@pytest.fixture(scope="module")
def call() -> Iterator[Caller]:
    with called() as caller:
        yield caller


def read(call: Caller, path: str) -> Any:
    answer = call(f"/v1/{path}")
    assert answer.status == 200, answer.body
    return answer.json


def numbers(call: Caller, filter: str = "") -> list[int]:
    answer = call(f"/v1/exchanges/follow?filter={filter}")
    assert answer.status == 200, answer.body
    runs = [run for line in answer.body.splitlines() for run in json.loads(line)["runs"]]
    return [number for first, last in runs for number in range(first, last + 1)]


def first(call: Caller, api: str) -> Any:
    """The first exchange of an API, in full."""
    return read(call, f"exchanges/{numbers(call, f'api==%27{api}%27')[0]}")


def test_files_need_no_token_calls_do_and_only_the_own_origin_is_admitted(call: Caller) -> None:
    answer = call("/", Accept="*/*")
    assert (answer.status, b"app.js" in answer.body) == (200, True)
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert call("/v1/source", Accept="*/*").status == 401
    assert call("/v1/source", **TOKEN, Origin=f"http://{call.address}").status == 200
    for path in "/", "/v1/source":
        for foreign in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Host": "evil.example"},
        ):
            assert call(path, **TOKEN, **foreign).status == 403
    assert call("/page/../api.py").status == 404


def test_a_filter_finds_numbers_and_rows_are_those(call: Caller) -> None:
    every = read(call, "source")
    assert numbers(call) == list(range(every["end"]))
    result = numbers(call, "api=='Produce'")
    assert 0 < len(result) < every["end"]
    rows = read(call, f"exchanges/rows?numbers={','.join(map(str, result[:3]))}")
    assert [(row["number"], row["api"]) for row in rows] == [(n, "Produce") for n in result[:3]]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("exchanges/follow?filter=nope%20%3D%3D%201", 400),
        ("exchanges/follow?after=x", 400),
        ("exchanges/rows?numbers=", 400),
        ("exchanges/rows?numbers=-1", 400),
        ("sequence?from=yesterday", 400),
        ("sequence?to=12345678901234567890", 400),
        ("sequence?connection=-1", 400),
        (f"exchanges/{'9' * 18}", 404),
        (f"exchanges/{'9' * 5_000}", 400),
        ("exchanges/-1", 400),
        ("exchanges/no", 400),
    ],
)
def test_what_can_not_be_meant_is_refused_in_a_line(call: Caller, path: str, status: int) -> None:
    result = call(f"/v1/{path}")
    assert result.status == status
    assert result.error


def test_fields_say_where_their_bytes_are(call: Caller) -> None:
    side = first(call, "Produce")["request"]
    data = base64.b64decode(side["hex"])
    places = {field["path"]: data[field["start"] : field["end"]] for field in side["fields"]}
    assert int.from_bytes(places["timeout_ms"]) == side["value"]["timeout_ms"]
    name = side["value"]["topic_data"][0]["name"]
    assert places["topic_data[0].name"].endswith(name.encode())


def test_a_window_of_a_connections_messages(call: Caller) -> None:
    every = read(call, "sequence?from=0")
    assert every["left_out"] == 0
    produced = [one for one in every["messages"] if one["api"] == "Produce"]
    late = next(one for one in produced if not one["reason"] and one["arrived"] < one["left"])
    number, connection = late["number"], late["connection"]
    assert read(call, f"exchanges/{number}")["correlation_id"] == late["correlation_id"]
    while_it_waits = f"from={late['arrived']}&to={late['left']}&connection={connection}"
    result = read(call, f"sequence?{while_it_waits}")["messages"]
    assert late in result
    assert {one["connection"] for one in result} == {connection}
    assert len(result) < len(every["messages"])


@pytest.mark.parametrize(
    ("selection", "clients"),
    [
        ("client=writer", {"writer"}),
        ("group=readers", {"reader"}),
        ("client=nobody", set()),
        ("client=writer&group=readers", set()),
        ("client=&group=", {"reader", "writer"}),
    ],
)
def test_the_messages_of_a_client_or_a_group(
    call: Caller, selection: str, clients: set[str]
) -> None:
    answer = read(call, f"sequence?{selection}")
    assert {one["client"] for one in answer["messages"]} == clients
    assert answer["choices"]["clients"] == ["reader", "writer"]
    assert answer["choices"]["groups"] == ["readers"]
    assert [one["connection"] for one in answer["choices"]["connections"]] == list(range(1, 10))


def test_bytes_with_secrets_are_not_shown() -> None:
    with called(lambda: shown(SAMPLES / "sasl.pcapng")) as call:
        result = numbers(call, "api=='SaslAuthenticate'")
        assert result
        for number in result:
            each = read(call, f"exchanges/{number}")
            assert (each["request"]["hex"], each["response"]["hex"]) == (None, None)


def test_of_a_message_that_the_proxy_changed_both_forms_are_there(call: Caller) -> None:
    result = first(call, "Metadata")
    sides = result["response"], result["altered"]["response"]
    ports = [[broker["port"] for broker in side["value"]["brokers"]] for side in sides]
    assert ports[0] != ports[1]
    assert sides[0]["hex"] != sides[1]["hex"]
    assert "request" not in result["altered"]

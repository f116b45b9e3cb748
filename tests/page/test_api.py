"""The page's calls, of a capture, with headers as browsers and others send them."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from barnabas.loop import run
from barnabas.page.api import is_file
from barnabas.proxy.control.serving import serve
from tests.page.pages import shown

SAMPLES = Path("captures/samples")
Get = Callable[..., tuple[int, dict[str, str], bytes]]


def asked(sample: str, ask: Callable[[Get, str], None]) -> None:
    async def main() -> None:
        _, app = shown(SAMPLES / sample)
        serving = await serve(app, ("127.0.0.1", 0), "secret", is_file)
        host, port = serving.address

        def get(path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
            connection = http.client.HTTPConnection(host, port)
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            connection.close()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body

        try:
            await asyncio.to_thread(ask, get, f"{host}:{port}")
        finally:
            await serving.stop()

    run(main())


def read(get: Get, path: str) -> Any:
    status, _, body = get(path, Authorization="Bearer secret")
    assert status == 200, body
    return json.loads(body)


def test_files_need_no_token_calls_do_and_only_the_own_origin_is_admitted() -> None:
    def ask(get: Get, where: str) -> None:
        status, headers, body = get("/")
        assert (status, b"app.js" in body) == (200, True)
        assert headers["content-security-policy"].startswith("default-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert get("/v1/source")[0] == 401
        token = {"Authorization": "Bearer secret"}
        assert get("/v1/source", **token, Origin=f"http://{where}")[0] == 200
        for path in "/", "/v1/source":
            assert get(path, **token, Origin="http://evil.example")[0] == 403
            assert get(path, **token, Origin="null")[0] == 403
            assert get(path, **token, Host="evil.example")[0] == 403
        assert get("/page/../api.py")[0] == 404

    asked("faults.pcapng", ask)


def numbers(get: Get, filter: str = "") -> list[int]:
    status, _, body = get(f"/v1/exchanges/follow?filter={filter}", Authorization="Bearer secret")
    assert status == 200, body
    runs = [run for line in body.splitlines() for run in json.loads(line)["runs"]]
    return [number for first, last in runs for number in range(first, last + 1)]


def test_a_filter_finds_numbers_and_rows_are_those() -> None:
    def ask(get: Get, _: str) -> None:
        every = read(get, "/v1/source")
        assert numbers(get) == list(range(every["end"]))
        found = numbers(get, "api=='Produce'")
        assert 0 < len(found) < every["end"]
        rows = read(get, f"/v1/exchanges/rows?numbers={','.join(map(str, found[:3]))}")
        assert [(row["number"], row["api"]) for row in rows] == [(n, "Produce") for n in found[:3]]

    asked("faults.pcapng", ask)


@pytest.mark.parametrize(
    "path",
    [
        "exchanges/follow?filter=nope",
        "exchanges/follow?after=x",
        "exchanges/rows?numbers=",
        "exchanges/rows?numbers=-1",
        "sequence?from=yesterday",
        "sequence?to=12345678901234567890",
        "sequence?connection=-1",
    ],
)
def test_what_can_not_be_meant_is_refused_in_a_line(path: str) -> None:
    def ask(get: Get, _: str) -> None:
        status, _headers, body = get(f"/v1/{path}", Authorization="Bearer secret")
        assert status == 400
        assert json.loads(body)["error"]

    asked("faults.pcapng", ask)


def test_fields_say_where_their_bytes_are() -> None:
    def ask(get: Get, _: str) -> None:
        number = numbers(get, "api=='Produce'")[0]
        side = read(get, f"/v1/exchanges/{number}")["request"]
        data = base64.b64decode(side["hex"])
        places = {field["path"]: data[field["start"] : field["end"]] for field in side["fields"]}
        assert int.from_bytes(places["timeout_ms"]) == side["value"]["timeout_ms"]
        assert places["topic_data[0].name"].endswith(
            side["value"]["topic_data"][0]["name"].encode()
        )

    asked("faults.pcapng", ask)


def test_a_window_of_a_connections_messages() -> None:
    def ask(get: Get, _: str) -> None:
        every = read(get, "/v1/sequence?from=0")
        assert every["left_out"] == 0
        produced = [one for one in every["messages"] if one["api"] == "Produce"]
        late = next(one for one in produced if not one["reason"] and one["arrived"] < one["left"])
        number, connection = late["number"], late["connection"]
        assert read(get, f"/v1/exchanges/{number}")["correlation_id"] == late["correlation_id"]
        while_it_waits = f"from={late['arrived']}&to={late['left']}&connection={connection}"
        found = read(get, f"/v1/sequence?{while_it_waits}")
        assert late in found["messages"]
        assert {one["connection"] for one in found["messages"]} == {connection}
        assert len(found["messages"]) < len(every["messages"])

    asked("faults.pcapng", ask)


def test_bytes_with_secrets_are_not_shown() -> None:
    def ask(get: Get, _: str) -> None:
        found = numbers(get, "api=='SaslAuthenticate'")
        assert found
        for number in found:
            each = read(get, f"/v1/exchanges/{number}")
            assert each["request"]["hex"] is None
            assert each["response"]["hex"] is None

    asked("sasl.pcapng", ask)


def test_of_a_message_that_the_proxy_changed_both_forms_are_there() -> None:
    def ask(get: Get, _: str) -> None:
        number = numbers(get, "api=='Metadata'")[0]
        found = read(get, f"/v1/exchanges/{number}")
        ports = [
            [broker["port"] for broker in side["value"]["brokers"]]
            for side in (found["response"], found["altered"]["response"])
        ]
        assert ports[0] != ports[1]
        assert found["altered"]["response"]["hex"] != found["response"]["hex"]
        assert "request" not in found["altered"]

    asked("faults.pcapng", ask)


def test_records_are_inside_with_their_keys_values_and_headers() -> None:
    def ask(get: Get, _: str) -> None:
        number = numbers(get, "api=='Produce'")[0]
        inside = read(get, f"/v1/exchanges/{number}")["inside"]
        record = inside["request"]["topic_data[0].partition_data[0].records"]["records"][0]
        assert record.keys() == {"offset", "timestamp", "key", "value", "kind", "headers"}
        assert record["value"]
        assert inside["response"] == {}

    asked("faults.pcapng", ask)


@pytest.mark.parametrize(
    ("number", "status"), [("9" * 18, 404), ("9" * 5_000, 400), ("-1", 400), ("no", 400)]
)
def test_an_exchange_that_is_not_there_is_no_error_of_the_server(number: str, status: int) -> None:
    def ask(get: Get, _: str) -> None:
        assert get(f"/v1/exchanges/{number}", Authorization="Bearer secret")[0] == status

    asked("faults.pcapng", ask)

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

from barnabas.captures.capture import open_capture
from barnabas.loop import run
from barnabas.page.api import application
from barnabas.page.store import Store
from barnabas.proxy.control.serving import serve

SAMPLES = Path("captures/samples")
Get = Callable[..., tuple[int, dict[str, str], bytes]]


def asked(sample: str, ask: Callable[[Get, str], None]) -> None:
    capture = open_capture(SAMPLES / sample)
    store = Store(capture.context)
    for exchange in capture.learn(capture.exchanges()):
        store.add(exchange)
    store.over = True

    async def main() -> None:
        app = application(store, {"kind": "capture", "name": sample})
        free = lambda path: not path.startswith("/api/")  # noqa: E731
        serving = await serve(app, ("127.0.0.1", 0), "secret", free)
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
        assert get("/api/source")[0] == 401
        token = {"Authorization": "Bearer secret"}
        assert get("/api/source", **token, Origin=f"http://{where}")[0] == 200
        for path in "/", "/api/source":
            assert get(path, **token, Origin="http://evil.example")[0] == 403
            assert get(path, **token, Origin="null")[0] == 403
            assert get(path, **token, Host="evil.example")[0] == 403
        assert get("/../api.py")[0] == 404

    asked("faults.pcapng", ask)


def test_a_filter_finds_numbers_and_rows_are_those() -> None:
    def ask(get: Get, _: str) -> None:
        every = read(get, "/api/exchanges")
        assert every["numbers"] == list(range(every["end"]))
        found = read(get, "/api/exchanges?filter=api=='Produce'")["numbers"]
        assert 0 < len(found) < every["end"]
        rows = read(get, f"/api/rows?numbers={','.join(map(str, found[:3]))}")
        assert [(row["number"], row["api"]) for row in rows] == [(n, "Produce") for n in found[:3]]

    asked("faults.pcapng", ask)


@pytest.mark.parametrize(
    "path",
    ["exchanges?filter=nope", "exchanges?after=x", "rows?numbers=", "rows?numbers=-1"],
)
def test_what_can_not_be_meant_is_refused_in_a_line(path: str) -> None:
    def ask(get: Get, _: str) -> None:
        status, _headers, body = get(f"/api/{path}", Authorization="Bearer secret")
        assert status == 400
        assert json.loads(body)["error"]

    asked("faults.pcapng", ask)


def test_fields_say_where_their_bytes_are() -> None:
    def ask(get: Get, _: str) -> None:
        number = read(get, "/api/exchanges?filter=api=='Produce'")["numbers"][0]
        side = read(get, f"/api/exchanges/{number}")["request"]
        data = base64.b64decode(side["hex"])
        places = {field["path"]: data[field["start"] : field["end"]] for field in side["fields"]}
        assert int.from_bytes(places["timeout_ms"]) == side["value"]["timeout_ms"]
        assert places["topic_data[0].name"].endswith(
            side["value"]["topic_data"][0]["name"].encode()
        )

    asked("faults.pcapng", ask)


def test_bytes_with_secrets_are_not_shown() -> None:
    def ask(get: Get, _: str) -> None:
        found = read(get, "/api/exchanges?filter=api=='SaslAuthenticate'")["numbers"]
        assert found
        for number in found:
            each = read(get, f"/api/exchanges/{number}")
            assert each["request"]["hex"] is None
            assert each["response"]["hex"] is None

    asked("sasl.pcapng", ask)

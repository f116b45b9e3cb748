"""The document has every request, real answers are what it says, and the page asks for nothing else."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from confluent_kafka import Producer
from jsonschema import Draft202012Validator

from barnabas.api_version import PREFIX
from barnabas.page.openapi import ANSWERS, BODIES, OTHERS, QUERY_PARAMETERS, document
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.testing.server.api import routes
from tests.page.browser import barnabas

SCENARIO = """
version: 1
rules:
  - {name: stop here, match: {api: Produce, direction: request, client_id: held}, do: breakpoint}
"""
CALL = re.compile(
    r"""\b(get|call|usePolled|ask)\((?:"(?P<method>[A-Z]+)", |(?P<any>method), )?"""
    r"""["`](?P<path>/[^"`]*)["`](?P<rest>.*)"""
)
Call = Callable[..., tuple[str, Any]]


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    """Asks a proxy that a client went through, and whose second client waits at a breakpoint."""
    rules = tmp_path_factory.mktemp("openapi") / "rules.yaml"
    rules.write_text(SCENARIO)
    with (
        EmbeddedCluster(1, topics={"orders": 1}) as cluster,
        barnabas(
            *("proxy", "-b", cluster.bootstrap, "-l", "127.0.0.1:0", "--web"),
            *("--scenario", str(rules)),
        ) as ready,
    ):
        where = {"bootstrap.servers": ready["listen"], "log_level": 0}
        address = urlsplit(ready["page"])
        assert address.hostname

        def asked(method: str, path: str, body: str | None = None) -> tuple[str, Any]:
            connection = http.client.HTTPConnection(str(address.hostname), address.port or 0)
            headers = {"Authorization": f"Bearer {ready['token']}"}
            connection.request(method, PREFIX + path, body, headers)
            answer = connection.getresponse()
            kind = str(answer.getheader("content-type")).partition(";")[0]
            # of a stream that goes on, the first line; of events, which may never come, nothing
            text = b""
            if kind != "text/event-stream":
                text = answer.readline() if kind == "application/jsonl" else answer.read()
            connection.close()
            assert answer.status in (200, 202), text
            return kind, json.loads(text) if "json" in kind else text

        writer = Producer(where)
        writer.produce("orders", b"1", key=b"k")
        assert writer.flush(20) == 0
        held = Producer({**where, "client.id": "held"})
        held.produce("orders", b"2")
        held.poll(0)
        while not asked("GET", "/breakpoints")[1]:
            held.poll(0.05)
        yield asked
        held.purge(in_queue=True, in_flight=True)
        held.flush(5)


def closed(schema: Any) -> Any:
    """The same schema, which takes no property that it does not name."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(each) for name, each in schema.items()}
    return found | {"additionalProperties": False} if "properties" in found else found


@pytest.mark.timeout(60)
def test_real_answers_are_what_the_document_says(call: Call) -> None:
    _, said = call("GET", "/openapi.json")
    assert (said["info"]["version"], said["servers"]) == ("1", [{"url": PREFIX}])
    waiting = call("GET", "/breakpoints")[1][0]["id"]
    only = quote("api == 'Produce'")
    number = call("GET", f"/exchanges/follow?filter={only}")[1]["runs"][0][0]
    paths = {
        "/exchanges/rows": f"/exchanges/rows?numbers={number}",
        "/exchanges/{number}": f"/exchanges/{number}",
        "/bookmarks/{number}": f"/bookmarks/{number}",
        "/scenario/rules/{name}": "/scenario/rules/stop%20here",
        "/scenario/rules/{name}/fire": "/scenario/rules/stop%20here/fire",
        "/scenario/rules/{name}/release": "/scenario/rules/stop%20here/release",
        "/breakpoints/{id}": f"/breakpoints/{waiting}",
    }
    bodies = {
        "POST /scenario/rules": "{name: cut, match: {api: Vote}, do: close}",
        "POST /scenario/draft": json.dumps({"exchange": number, "do": "delay"}),
        "POST /take": '{"form": "jsonl"}',
        "POST /breakpoints/{id}": "{edit: {set: {timeout_ms: 5}}}",
    }
    last = (
        "POST /breakpoints/{id}",  # what comes behind it would let the message go
        "POST /scenario/rules/{name}/release",
        "PUT /scenario",
        "DELETE /scenario/rules/{name}",
    )
    names = [
        f"{method.upper()} {path}"
        for path, methods in said["paths"].items()
        for method in methods
        if not path.startswith("/connections/") and path != "/drain"
    ]
    assert {*ANSWERS} <= {*names} | of_tests()
    for name in sorted(names, key=lambda name: last.index(name) if name in last else -1):
        method, path = name.split()
        body = bodies.get(name, SCENARIO if name in BODIES else None)
        kind, answer = call(method, paths.get(path, path), body)
        declared = said["paths"][path][method.lower()]["responses"]["2XX"]["content"]
        if name == "POST /take":
            continue  # each form has a type of its own
        assert list(declared) == [kind], name
        if name in ANSWERS:
            schema = {**declared[kind]["schema"], "components": said["components"]}
            faults = list(Draft202012Validator(closed(schema)).iter_errors(answer))
            assert faults == [], name
    every = {f"{m.upper()} {path}" for path, methods in said["paths"].items() for m in methods}
    every |= of_tests()
    for table in ANSWERS, QUERY_PARAMETERS, BODIES, OTHERS:
        assert {*table} <= every


def of_tests() -> set[str]:
    """The requests to a server of tests, as the tables have them: see its own test."""
    unused: Any = None
    found = document(routes(unused))["paths"]
    return {
        f"{method.upper()} {path.removeprefix('/tests/{test}') or path}"
        for path, methods in found.items()
        for method in methods
    }


def calls() -> Iterator[tuple[str, str, set[str]]]:
    """What the page asks for: the method, the path up to what is put in, and the parameters in the query."""
    for path in sorted(Path("page/static").glob("*.js")):
        for found in CALL.finditer(path.read_text()):
            where, _, query = found["path"].partition("?")
            method = found["method"] or ("POST" if 'method: "POST"' in found["rest"] else "GET")
            if found["any"]:
                method = "DELETE"
            names = {*re.findall(r"(\w+)=", query)}
            if "URLSearchParams(" in found["rest"]:
                names |= {*re.findall(r"\w+", found["rest"].partition("{")[2].partition("}")[0])}
            yield method, re.sub(r"\$\{.*", "", where), names


def test_the_page_asks_for_what_is_in_the_document(call: Call) -> None:
    paths = call("GET", "/openapi.json")[1]["paths"]
    found = list(calls())
    assert len(found) > 20
    for method, path, names in found:
        fits = [
            each
            for each, methods in paths.items()
            if method.lower() in methods
            and (each == path or (path[-1] == "/" and each.startswith(path + "{")))
        ]
        assert fits, (method, path)
        asked = {name for each in fits for name in QUERY_PARAMETERS.get(f"{method} {each}", ())}
        assert names - {"query"} <= asked, (method, path)

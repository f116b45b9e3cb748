"""The bench of rules: against its own server without a proxy, and with a few rounds."""

from __future__ import annotations

import io
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing import Pipe
from typing import Any

import pytest
from rich.console import Console

from barnabas.proxy.scenario.file import loads as scenario
from bench import accuracy, load, rule_cost, server
from bench.accuracy import Accuracy, Delays
from tests.proxy.playbook import Stage


@pytest.fixture(scope="module")
def port() -> int:
    ours, theirs = Pipe()
    threading.Thread(target=server.serve, args=(theirs,), daemon=True).start()
    found: int = ours.recv()
    return found


@pytest.mark.parametrize("size", accuracy.SIZES)
def test_messages_have_the_size_that_they_are_said_to_have(size: str, port: int) -> None:
    found = load.loads()[f"delayed {size}"]
    assert found.request_size == {"64 B": 64, "1 MiB": 1 << 20}[size]
    assert len(load.run(port, f"plain {size}", 0.05, 1 << 30).latencies) > 1


def test_the_rules_are_about_these_messages_and_no_others() -> None:
    delayed, throttled = (rule.match for rule in scenario(accuracy.RULES).rules)
    kinds = {
        name: int.from_bytes(found.requests[6:8])
        for name, found in load.loads().items()
        if found.requests[4:6] == b"\0\0"
    }
    for match, meant in ((delayed, "delayed"), (throttled, "throttled")):
        met = {name for name, v in kinds.items() if match.key_matches("request", 0, v)}
        assert met == {name for name in kinds if name.startswith(meant)}


def test_other_traffic_flows_until_it_is_told_to_end(port: int) -> None:
    ours, theirs = Pipe()
    thread = threading.Thread(target=accuracy.fill, args=(theirs,))
    thread.start()
    ours.send(port)
    assert ours.recv() is None
    assert not ours.poll(0.3)
    ours.send(None)
    assert 0 < ours.recv() < 1.2 * accuracy.OTHERS
    ours.send(None)
    thread.join(10)
    assert not thread.is_alive()


def test_toxiproxy_is_told_of_a_second_proxy_with_a_delay() -> None:
    told: list[tuple[str, Any]] = []

    class Toxiproxy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            what = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.append((self.path, what))
            self.send_response(201)
            self.end_headers()
            self.wfile.write(json.dumps(what | {"listen": "127.0.0.1:4711"}).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Toxiproxy) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        assert accuracy.toxic(listener.server_port, 9092) == 4711
        listener.shutdown()
    (_, proxy), (path, toxic) = told
    assert proxy["upstream"] == "127.0.0.1:9092"
    assert path == f"/proxies/{proxy['name']}/toxics"
    assert (toxic["type"], toxic["attributes"]["latency"]) == ("latency", accuracy.DELAY_MS)


def test_the_tables_show_what_was_measured() -> None:
    delays = Delays("barnabas", "64 B", 2e8, [0.0001] * 98 + [0.0005, 0.003], 0)
    found = Accuracy([delays], [19.8e6, 19.9e6, 20e6])
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(*accuracy.tables(found, "toxiproxy-server: not on the path"))
    text = console.export_text()
    for figure in ("200 MB/s", "100", "500", "-0.50%", "19.90", "not on the path"):
        assert figure in text


def test_every_set_of_rules_is_measured_and_none_of_them_matches() -> None:
    found = rule_cost.measure(1, lambda _: None)
    assert found[0].name == "no rule"
    assert all(0 < took < 1 for way in found for took in way.seconds.values())
    for way in found[1:]:
        rules = scenario(way.rules).rules
        assert len(rules) == (1 if way.name.startswith("where") else rule_cost.TEN)
    asked, answered = rule_cost.exchanges()
    for way in found:
        actor = Stage(way.rules).actor()
        rule_cost.once(actor, asked[:2], answered[:2])
        assert [rule.matched for rule in actor.stage.rules.rules] == [0] * len(
            actor.stage.rules.rules
        )
    assert rule_cost.table(found).row_count == len(found)

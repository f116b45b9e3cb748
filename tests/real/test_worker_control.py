"""`barnabas proxy --workers --control`: one control port for all workers, and the same decisions."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from barnabas.captures.capture import open_capture
from barnabas.control_client import Client, Refused, Unreachable
from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.proxy.test_draining import connect, frame
from tests.real.controlled import answers, ask, checked, controlled, put
from tests.real.load import asking
from tests.real.process import ProxyProcess, sockets_of
from tests.waiting import until

pytestmark = pytest.mark.slow("several processes for each")

LOOK = "{name: look, match: {direction: request}, do: breakpoint}"


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(2) as it:
        yield it


def test_one_control_port_for_all(cluster: EmbeddedCluster) -> None:
    with controlled(cluster, "--log", "json") as (proxy, it, clients):
        answers(clients)
        status = it.ask("GET", "/status")
        assert status["connections"] == {"open": 4, "accepted": 4, "refused": 0}
        assert status["listen"] == proxy.ready["listen"]
        assert status["exchanges"]["observed"]
        assert [each["connection"] for each in it.ask("GET", "/connections")] == [1, 2, 3, 4]
        until(lambda: it.ask("GET", "/status")["exchanges"]["seen"] == 4, "exchanges seen")
        assert [row["connection"] for row in it.ask("GET", "/exchanges")] == [1, 2, 3, 4]
        assert 'barnabas_exchanges_total{api="ApiVersions"} 4.0' in it.text("GET", "/metrics")
        for number in (1, 2):  # in different workers
            client = clients[number - 1]
            assert it.ask("POST", f"/connections/{number}/pause")["paused"]
            ask([client], 7)
            assert it.ask("POST", f"/connections/{number}/step")["paused"]
            it.ask("POST", f"/connections/{number}/resume")
            assert frame(client)[:4] == (7).to_bytes(4)
        with pytest.raises(Refused, match="not paused"):
            it.ask("POST", "/connections/1/step")
        with pytest.raises(Refused, match="no connection 9"):
            it.ask("POST", "/connections/9/close")
        assert it.ask("POST", "/connections/3/close")["connection"] == 3
        assert clients[2].recv(1) == b""
        until(lambda: it.ask("GET", "/status")["connections"]["open"] == 3, "closed")


def refused(it: Client, method: str, path: str) -> str:
    with pytest.raises(Unreachable) as problem:
        it.ask(method, path)
    return str(problem.value)


def test_a_worker_that_hangs_is_named_and_does_nothing_later(cluster: EmbeddedCluster) -> None:
    with (
        controlled(cluster, clients=2, rule=LOOK) as (proxy, it, clients),
        ExitStack() as stack,
        ThreadPoolExecutor() as threads,
    ):
        ask(clients)
        until(lambda: len(it.ask("GET", "/breakpoints")) == 2, "both wait")
        _, second = proxy.workers
        os.kill(second, signal.SIGSTOP)
        stack.callback(os.kill, second, signal.SIGCONT)
        asked = [("GET", "/breakpoints"), ("GET", "/breakpoints/2.1"), ("GET", "/connections")]
        asked += [("POST", "/breakpoints/2.1"), ("POST", "/connections/2/close"), ("GET", "/log")]
        for problem in threads.map(lambda each: refused(it, *each), asked):
            assert "worker 2 does not answer" in problem
        found = threads.map(lambda path: it.ask("GET", path), ("/status", "/scenario"))
        assert [each["missing_workers"] for each in found] == [[2], [2]]
        assert it.ask("POST", "/breakpoints/1.1", b"reset")["id"] == "1.1"
        os.kill(second, signal.SIGCONT)
        until(lambda: not it.ask("GET", "/status")["missing_workers"], "it answers")
        assert [each["id"] for each in it.ask("GET", "/breakpoints")] == ["2.1"]
        it.ask("POST", "/breakpoints/2.1")
        assert frame(clients[1])[:4] == (1).to_bytes(4)


def test_what_waits_in_any_of_them_is_decided_on_and_rehearsed(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    capture = tmp_path / "run.pcapng"
    with controlled(cluster, "--capture", capture, rule=LOOK) as (_, it, clients):
        ask(clients, 5, version=0)
        until(lambda: len(it.ask("GET", "/breakpoints")) == 4, "all wait")
        found = {each["connection"]: each["id"] for each in it.ask("GET", "/breakpoints")}
        assert found == {number: f"{number}.1" for number in range(1, 5)}
        for each in found.values():
            assert it.ask("GET", f"/breakpoints/{each}")["id"] == each
        decisions = (b"{respond: {error: INVALID_REQUEST}}", b"", b"reset")
        for number, do in enumerate(decisions, 1):
            it.ask("POST", f"/breakpoints/{number}.1", do)
        for gone in ("1.1", "5.1", "x"):
            with pytest.raises(Refused, match=f"no message {gone} is waiting"):
                it.ask("POST", f"/breakpoints/{gone}", b"drop")
        with pytest.raises(Refused, match="generation_id"):
            it.ask("POST", "/breakpoints/4.1", b"{edit: {set: {generation_id: 1}}}")
        assert [frame(client)[4:6] for client in clients[:2]] == [b"\0\x2a", b"\0\0"]
        with pytest.raises(ConnectionResetError):
            clients[2].recv(1)
        assert [each["id"] for each in it.ask("GET", "/breakpoints")] == ["4.1"]
        clients[3].close()
        until(lambda: not it.ask("GET", "/breakpoints"), "it goes with its client")
    assert "look: 4 matched, 4 fired, breakpoint, 3 released" in checked(capture)


def test_while_it_drains_it_says_who_is_still_there(cluster: EmbeddedCluster) -> None:
    rule = "{name: held, match: {direction: request}, do: {delay: 1h}}"
    with controlled(cluster, "--drain", "30s", clients=2, rule=rule) as (proxy, it, clients):
        ask(clients)
        until(lambda: it.ask("GET", "/scenario")["rules"][0]["fired"] == 2, "both are held")
        it.ask("POST", "/drain")
        until(lambda: it.ask("GET", "/status")["draining"], "draining")
        it.ask("POST", "/connections/1/close")
        assert [each["connection"] for each in it.ask("GET", "/connections")] == [2]
        it.ask("POST", "/connections/2/close")
        assert proxy.wait() == 0


def test_a_reload_reaches_all_and_a_rule_is_fired_once(cluster: EmbeddedCluster) -> None:
    with controlled(cluster) as (proxy, it, clients):
        answers(clients)
        put(it, "{name: cut, match: {api: ApiVersions}, when: {probability: 0}, do: close}")
        answers(clients)
        (counts,) = it.ask("GET", "/scenario")["rules"]
        assert counts["name"] == "cut"
        assert (counts["matched"], counts["fired"]) == (8, 0)  # requests and responses
        assert it.ask("POST", "/scenario/rules/cut/fire")["to_fire"] == 1
        assert answers(clients).count(b"") == 1
        (counts,) = it.ask("GET", "/scenario")["rules"]
        assert (counts["fired"], counts["to_fire"]) == (1, 0)
        assert "scenario: rule 'cut' added by the control port" in proxy.said


MINE = """
from pydantic import BaseModel
from barnabas.proxy.effects import HangUp

class Settings(BaseModel):
    reset: bool = False

MINE = (("mine", Settings, lambda config, *_: (HangUp(reset=config.reset),)),)
"""


def test_rules_with_a_fault_of_the_users_own_reach_the_workers(
    cluster: EmbeddedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faults_of_mine.py").write_text(MINE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with controlled(cluster, "--faults", "faults_of_mine:MINE", clients=2) as (_, it, clients):
        it.ask("POST", "/scenario/rules", b"{name: own, match: {api: ApiVersions}, do: mine}")
        assert answers(clients) == [b"", b""]


def test_rules_that_depend_on_other_connections_have_one_worker(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    rule = "{name: third, match: {api: Metadata}, when: {scope: rule, every: 3}, do: {delay: 1ms}}"
    path = tmp_path / "rules.yaml"
    path.write_text(f"version: 1\nrules: [{rule}]")
    with controlled(cluster, "--scenario", path) as (proxy, it, clients), ExitStack() as load:
        assert (
            "workers: rule 'third' depends on other connections (scope: rule counts the matches of "
            "all connections): worker 1 takes all connections"
        ) in proxy.said
        first, second = proxy.workers
        answers(clients)
        assert sockets_of(first) == sockets_of(second) + 8
        put(it)
        for _ in range(2):
            load.enter_context(connect(proxy.ready["listen"]))
        until(lambda: sockets_of(first) == sockets_of(second) + 4, "the other worker has two")
        with pytest.raises(Refused, match="start with --workers 1"):
            put(it, rule)
        assert it.ask("GET", "/scenario")["rules"] == []


def test_decisions_are_those_of_one_process(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(
        "version: 1\nseed: 3\nrules:\n"
        "  - {name: some, match: {api: ApiVersions, direction: response}, when: {probability: 0.3}, "
        "do: {delay: 1ms}}\n"
        "  - {name: odd, match: {direction: request}, when: {every: 2, skip: 1}, do: {slice: {size: 5B}}}\n"
    )
    decided = []
    for workers in ("1", "2"):
        capture = tmp_path / f"{workers}.pcapng"
        options = ("--workers", workers, "--scenario", str(path), "--capture", str(capture))
        with ProxyProcess(cluster.bootstrap, *options) as proxy:
            for _ in range(4):
                with connect(proxy.ready["listen"]) as client:
                    for number in range(20):
                        answers([client], number)
        assert "0 of 160 decisions differ" in checked(capture)
        exchanges = open_capture(capture).exchanges()
        decided.append(sorted((e.connection, e.correlation_id, e.rules) for e in exchanges))
    assert decided[0] == decided[1]
    assert any(rules for _, _, rules in decided[0])


def test_decisions_stay_so_when_scenarios_are_replaced_under_load(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    capture = tmp_path / "c.pcapng"
    options = ("--workers", "3", "--control", "127.0.0.1:0", "--capture", str(capture))
    with ProxyProcess(cluster.bootstrap, *options) as proxy, ExitStack() as load:
        asked = [load.enter_context(asking(proxy.address)) for _ in range(4)]
        for number in range(40):
            put(proxy.control, f"{{name: r{number % 3}, when: {{every: 2}}, do: {{delay: 1ms}}}}")
    assert f"0 of {2 * sum(map(len, asked))} decisions differ" in checked(capture)
    assert all(asked)
    assert any(exchange.rules for exchange in open_capture(capture).exchanges())

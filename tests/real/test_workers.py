"""`barnabas proxy --workers`: one log, one capture, one control port, and what a dead worker costs."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.control_client import Client, Refused, Unreachable
from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.proxy.test_draining import connect, frame
from tests.barnabas.cli.test_app import started
from tests.proxy.frames import request
from tests.real.load import Group, Sender, asking, read_log
from tests.real.process import ProxyProcess, passed
from tests.waiting import until

pytestmark = pytest.mark.slow("several processes for each")

CLOCK = timedelta(milliseconds=500)
"""Between the moment when a worker looks at the clock and that when it writes: it may be stopped there."""

TOPICS = ("one", "two")
PARTITIONS = 3


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(2, topics=dict.fromkeys(TOPICS, PARTITIONS)) as it:
        yield it


def control(proxy: ProxyProcess) -> Client:
    host, _, port = proxy.ready["control"].rpartition(":")
    return Client((host, int(port)), proxy.ready["token"])


def workers_of(proxy: ProxyProcess) -> list[int]:
    """Its children but the log's reader, which is behind in nice."""
    children = Path(f"/proc/{proxy.pid}/task/{proxy.pid}/children").read_text().split()
    return [int(pid) for pid in children if os.getpriority(os.PRIO_PROCESS, int(pid)) == 0]


def sockets_of(pid: int) -> int:
    count = 0
    for name in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):  # closed meanwhile
            count += os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:")
    return count


def rows(proxy: ProxyProcess) -> list[dict[str, Any]]:
    return [json.loads(line) for line in proxy.lines]


def scenario(folder: Path, text: str) -> Path:
    path = folder / "rules.yaml"
    path.write_text(f"version: 1\nseed: 3\nrules:\n{text}")
    return path


def test_log_and_capture_are_one_and_in_order(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    capture = tmp_path / "run.pcapng"
    options = ("--workers", "3", "--log", "json", "--log-wait", "--capture", str(capture))
    with ProxyProcess(cluster.bootstrap, *options) as proxy:
        assert len(workers_of(proxy)) == 3
        with ExitStack() as load:
            asked = [load.enter_context(asking(proxy.address)) for _ in range(6)]
            until(lambda: all(len(each) > 100 for each in asked), "a hundred exchanges each")
        proxy.terminate()
        assert proxy.wait() == 0
        said = proxy.said
    found = rows(proxy)
    assert len(found) == passed(said) == sum(map(len, asked))
    assert " not printed" not in said
    by = Counter(row["connection"] for row in found)
    assert sorted(by) == [1, 2, 3, 4, 5, 6]
    for number in by:
        ids = [row["correlation_id"] for row in found if row["connection"] == number]
        assert ids == [*range(len(ids))]
    captured = [each.row() for each in open_capture(capture).exchanges()]
    assert Counter(map(str, captured)).total() == len(found)
    ended = [
        datetime.fromisoformat(row["ts"]) + timedelta(milliseconds=row["latency_ms"])
        for row in found
    ]
    late = max(before - after for before, after in pairwise(ended))
    assert late < CLOCK
    assert "6 connections" in said
    assert "capture: " in said
    assert " lost" not in said


def test_a_rotated_capture_of_several_workers_has_all(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    options = ("--workers", "2", "--capture", str(folder), "--rotate", "128KiB")
    with ProxyProcess(cluster.bootstrap, *options) as proxy:
        with ExitStack() as load:
            asked = [
                load.enter_context(asking(proxy.address, client_software_name="n" * 1000))
                for _ in range(4)
            ]
            until(lambda: all(len(each) > 300 for each in asked), "exchanges")
        proxy.terminate()
        assert proxy.wait() == 0
        said = proxy.said
    segments = sorted(folder.glob("*.pcapng"))
    assert len(segments) > 3
    assert said.count(" is closed") == len(segments)
    assert sum(1 for _ in open_capture(folder).exchanges()) == passed(said)
    assert " lost" not in said
    for path in segments:  # each can be read alone
        exchanges = list(open_capture(path).exchanges())
        assert exchanges
        assert {each.api for each in exchanges} == {"ApiVersions"}


def await_more(senders: list[Sender]) -> None:
    """Until each has some more records acknowledged."""
    marks = [len(sender.acknowledged) + 50 for sender in senders]
    until(
        lambda: all(len(it.acknowledged) > mark for it, mark in zip(senders, marks, strict=True)),
        "acknowledgements",
    )


def replaced(proxy: ProxyProcess, killed: int) -> bool:
    now = workers_of(proxy)
    return len(now) == 2 and killed not in now


def test_real_clients_lose_nothing_when_a_worker_is_killed(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    capture = tmp_path / "run.pcapng"
    options = ("--workers", "2", "--log", "json", "--capture", str(capture))
    with ProxyProcess(cluster.bootstrap, *options) as proxy:
        before = workers_of(proxy)
        with ExitStack() as load:
            senders = [
                load.enter_context(Sender(proxy.bootstrap, topic, PARTITIONS)) for topic in TOPICS
            ]
            groups = [load.enter_context(Group(proxy.bootstrap, topic)) for topic in TOPICS]
            for killed in before:
                await_more(senders)
                os.kill(killed, signal.SIGKILL)
                until(partial(replaced, proxy, killed), "another worker")
            await_more(senders)
        for topic, sender in zip(TOPICS, senders, strict=True):
            assert not sender.failed
            there = read_log(cluster.bootstrap, topic, PARTITIONS)
            assert set(there) >= set(sender.acknowledged) == set(sender.sent)
            for partition in range(PARTITIONS):
                numbers = [number for where, number in there if where == partition]
                assert numbers == sorted(numbers)
        assert all(group.received for group in groups)
        proxy.terminate()
        assert proxy.wait() == 0
        said = proxy.said
    ended = re.findall(
        r"worker (\d) ended \(signal 9\) and is replaced: (\d+) connections? lost", said
    )
    assert sorted(worker for worker, _ in ended) == ["1", "2"]
    lost = sum(int(count) for _, count in ended)
    assert lost
    assert f"{lost} lost with workers that ended" in said
    exchanges = open_capture(capture).exchanges()
    assert sum(each.api == "Produce" for each in exchanges) > 100


def test_what_a_dead_worker_counted_stays_and_another_rule_counts_anew(
    cluster: EmbeddedCluster,
) -> None:
    slow = "version: 1\nrules: [{{name: slow, match: {{api: ApiVersions}}, do: {{delay: {}}}}}]"
    options = ("--workers", "2", "--control", "127.0.0.1:0")
    with ProxyProcess(cluster.bootstrap, *options) as proxy, ExitStack() as load:
        it = control(proxy)

        def counted() -> dict[str, float]:
            lines = it.text("GET", "/metrics").splitlines()
            words = [line.rsplit(" ", 1) for line in lines if line.startswith("barnabas_")]
            return {
                name: float(value) for name, value in words if re.search(r"_total\b|_count\b", name)
            }

        it.ask("PUT", "/scenario", slow.format("1ms").encode())
        for number in range(4):
            client = load.enter_context(connect(proxy.ready["listen"]))
            client.sendall(request("ApiVersions", number, version=3))
            frame(client)
        before = counted()
        assert before['barnabas_rule_fired_total{rule="slow"}'] == 8
        for killed in workers_of(proxy):
            os.kill(killed, signal.SIGKILL)
            until(partial(replaced, proxy, killed), "another worker")
        assert counted() == before, "open connections' bytes too"
        found = it.ask("PUT", "/scenario", slow.format("2ms").encode())
        assert [each["matched"] for each in found["rules"]] == [0]
        assert counted()['barnabas_faults_total{fault="delay"}'] == 8


def test_one_control_port_for_all(cluster: EmbeddedCluster) -> None:
    options = ("--workers", "2", "--log", "json", "--control", "127.0.0.1:0")
    with ProxyProcess(cluster.bootstrap, *options) as proxy, ExitStack() as load:
        it = control(proxy)
        clients = [load.enter_context(connect(proxy.ready["listen"])) for _ in range(4)]
        for number, client in enumerate(clients):
            client.sendall(request("ApiVersions", number, version=3))
            frame(client)
        status = it.ask("GET", "/status")
        assert status["connections"] == {"open": 4, "accepted": 4, "refused": 0}
        assert status["listen"] == proxy.ready["listen"]
        assert status["exchanges"]["observed"]
        assert [each["connection"] for each in it.ask("GET", "/connections")] == [1, 2, 3, 4]
        until(lambda: it.ask("GET", "/status")["exchanges"]["seen"] == 4, "exchanges seen")
        assert [row["connection"] for row in it.ask("GET", "/exchanges")] == [1, 2, 3, 4]
        assert 'barnabas_exchanges_total{api="ApiVersions"} 4.0' in it.text("GET", "/metrics")
        for number in (1, 2):  # in different workers
            assert it.ask("POST", f"/connections/{number}/pause")["paused"]
            clients[number - 1].sendall(request("ApiVersions", 7, version=3))
            assert it.ask("POST", f"/connections/{number}/step")["paused"]
            it.ask("POST", f"/connections/{number}/resume")
            assert frame(clients[number - 1])[:4] == (7).to_bytes(4)
        with pytest.raises(Refused, match="not paused"):
            it.ask("POST", "/connections/1/step")
        with pytest.raises(Refused, match="no connection 9"):
            it.ask("POST", "/connections/9/close")
        assert it.ask("POST", "/connections/3/close")["connection"] == 3
        assert clients[2].recv(1) == b""
        until(lambda: it.ask("GET", "/status")["connections"]["open"] == 3, "closed")


def test_a_worker_that_hangs_is_named_and_does_nothing_later(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    rule = "  - {name: look, match: {direction: request}, do: breakpoint}\n"
    options = ("--workers", "2", "--control", "127.0.0.1:0", "--scenario")
    with (
        ProxyProcess(cluster.bootstrap, *options, str(scenario(tmp_path, rule))) as proxy,
        ExitStack() as load,
        ThreadPoolExecutor() as threads,
    ):
        it = control(proxy)
        clients = [load.enter_context(connect(proxy.ready["listen"])) for _ in range(2)]
        for client in clients:
            client.sendall(request("ApiVersions", 1, version=3))
        until(lambda: len(it.ask("GET", "/breakpoints")) == 2, "both wait")
        _, second = workers_of(proxy)
        os.kill(second, signal.SIGSTOP)
        load.callback(os.kill, second, signal.SIGCONT)
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


def refused(it: Client, method: str, path: str) -> str:
    with pytest.raises(Unreachable) as problem:
        it.ask(method, path)
    return str(problem.value)


def test_what_waits_in_any_of_them_is_decided_on_and_rehearsed(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    capture, sent = tmp_path / "run.pcapng", request("ApiVersions", 5, version=0)
    rule = "  - {name: look, match: {direction: request}, do: breakpoint}\n"
    options = ("--workers", "2", "--capture", str(capture), "--control", "127.0.0.1:0")
    path = scenario(tmp_path, rule)
    with ProxyProcess(cluster.bootstrap, *options, "--scenario", str(path)) as proxy:
        it = control(proxy)
        with ExitStack() as load:
            clients = [load.enter_context(connect(proxy.ready["listen"])) for _ in range(4)]
            for client in clients:
                client.sendall(sent)
            until(lambda: len(it.ask("GET", "/breakpoints")) == 4, "all wait")
            found = {each["connection"]: each["id"] for each in it.ask("GET", "/breakpoints")}
            assert found == {number: f"{number}.1" for number in range(1, 5)}
            assert {it.ask("GET", f"/breakpoints/{one}")["id"] for one in found.values()} == {
                *found.values()
            }
            wanted = (b"{respond: {error: INVALID_REQUEST}}", b"", b"reset")
            for number, do in enumerate(wanted, 1):
                it.ask("POST", f"/breakpoints/{number}.1", do)
            for gone in ("1.1", "5.1", "x"):
                with pytest.raises(Refused, match=f"no message {gone} waits"):
                    it.ask("POST", f"/breakpoints/{gone}", b"drop")
            with pytest.raises(Refused, match="generation_id"):
                it.ask("POST", "/breakpoints/4.1", b"{edit: {set: {generation_id: 1}}}")
            assert frame(clients[0])[4:6] == (42).to_bytes(2)
            assert frame(clients[1])[4:6] == (0).to_bytes(2)
            with pytest.raises(ConnectionResetError):
                clients[2].recv(1)
            assert [each["id"] for each in it.ask("GET", "/breakpoints")] == ["4.1"]
        until(lambda: not it.ask("GET", "/breakpoints"), "it goes with its client")
    command = [sys.executable, "-m", "barnabas", "rehearse", str(capture), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "look: 4 matched, 4 fired, breakpoint, 3 released" in checked.stderr


def test_while_it_drains_it_says_who_is_still_there(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    rule = "  - {name: held, match: {direction: request}, do: {delay: 1h}}\n"
    options = ("--scenario", str(scenario(tmp_path, rule)), "--control", "127.0.0.1:0")
    with (
        ProxyProcess(cluster.bootstrap, *options, "--drain", "30s") as proxy,
        connect(proxy.ready["listen"]) as first,
        connect(proxy.ready["listen"]) as second,
    ):
        it = control(proxy)
        for client in (first, second):
            client.sendall(request("ApiVersions", 1, version=3))
        until(lambda: it.ask("GET", "/scenario")["rules"][0]["fired"] == 2, "both are held")
        it.ask("POST", "/drain")
        until(lambda: it.ask("GET", "/status")["draining"], "draining")
        it.ask("POST", "/connections/1/close")
        assert [each["connection"] for each in it.ask("GET", "/connections")] == [2]
        it.ask("POST", "/connections/2/close")
        assert proxy.wait() == 0


def test_a_reload_reaches_all_and_a_rule_is_fired_once(cluster: EmbeddedCluster) -> None:
    rule = "{name: cut, match: {api: ApiVersions}, when: {probability: 0}, do: close}"
    options = ("--workers", "2", "--control", "127.0.0.1:0")
    with ProxyProcess(cluster.bootstrap, *options) as proxy, ExitStack() as load:
        it = control(proxy)
        clients = [load.enter_context(connect(proxy.ready["listen"])) for _ in range(4)]

        def all_ask() -> None:
            for client in clients:
                client.sendall(request("ApiVersions", 1, version=3))
                frame(client)

        all_ask()
        found = it.ask("PUT", "/scenario", f"version: 1\nrules: [{rule}]".encode())
        assert [each["name"] for each in found["rules"]] == ["cut"]
        all_ask()
        (counts,) = it.ask("GET", "/scenario")["rules"]
        assert (counts["matched"], counts["fired"]) == (8, 0)  # requests and responses
        assert it.ask("POST", "/scenario/rules/cut/fire")["to_fire"] == 1
        for client in clients:
            client.sendall(request("ApiVersions", 2, version=3))
        answers = [frame(client) for client in clients]
        assert answers.count(b"") == 1
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


def test_rules_with_a_fault_of_the_users_own_reach_the_worker(
    cluster: EmbeddedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faults_of_mine.py").write_text(MINE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    options = ("--faults", "faults_of_mine:MINE", "--control", "127.0.0.1:0")
    with ProxyProcess(cluster.bootstrap, *options) as proxy:
        rule = b"{name: own, match: {api: ApiVersions}, do: mine}"
        control(proxy).ask("POST", "/scenario/rules", rule)
        with connect(proxy.ready["listen"]) as client:
            client.sendall(request("ApiVersions", 1, version=3))
            assert frame(client) == b""


def test_rules_that_depend_on_other_connections_have_one_worker(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    rule = "  - {name: third, match: {api: Metadata}, when: {scope: rule, every: 3}, do: {delay: 1ms}}\n"
    path = scenario(tmp_path, rule)
    options = ("--workers", "2", "--scenario", str(path), "--control", "127.0.0.1:0")
    with ProxyProcess(cluster.bootstrap, *options) as proxy, ExitStack() as load:
        assert (
            "workers: rule 'third' depends on other connections (scope: rule counts the matches of "
            "all connections): worker 1 takes all connections"
        ) in proxy.said
        first, second = workers_of(proxy)
        clients = [load.enter_context(connect(proxy.ready["listen"])) for _ in range(4)]
        for client in clients:
            client.sendall(request("ApiVersions", 1, version=3))
            frame(client)
        assert sockets_of(first) == sockets_of(second) + 8
        it = control(proxy)
        it.ask("PUT", "/scenario", b"version: 1\nrules: []")
        clients += [load.enter_context(connect(proxy.ready["listen"])) for _ in range(2)]
        until(lambda: sockets_of(first) == sockets_of(second) + 4, "the other worker has two")
        with pytest.raises(Refused, match="start with --workers 1"):
            it.ask("PUT", "/scenario", path.read_bytes())
        assert it.ask("GET", "/scenario")["rules"] == []


def test_decisions_are_those_of_one_process(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    rules = (
        "  - {name: some, match: {api: ApiVersions, direction: response}, when: {probability: 0.3}, "
        "do: {delay: 1ms}}\n"
        "  - {name: odd, match: {direction: request}, when: {every: 2, skip: 1}, do: {slice: {size: 5B}}}\n"
    )
    decided = {}
    for workers in ("1", "2"):
        capture = tmp_path / f"{workers}.pcapng"
        options = ("--workers", workers, "--scenario", str(scenario(tmp_path, rules)))
        with ProxyProcess(cluster.bootstrap, *options, "--capture", str(capture)) as proxy:
            for _ in range(4):
                with connect(proxy.ready["listen"]) as client:
                    for number in range(20):
                        client.sendall(request("ApiVersions", number, version=3))
                        frame(client)
        command = [sys.executable, "-m", "barnabas", "rehearse", str(capture), "--check"]
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        assert "0 of 160 decisions differ" in checked.stderr
        decided[workers] = [
            (each.connection, each.correlation_id, each.rules)
            for each in open_capture(capture).exchanges()
        ]
    assert sorted(decided["1"]) == sorted(decided["2"])
    assert any(rules for _, _, rules in decided["1"])


def test_decisions_stay_so_when_scenarios_are_replaced_under_load(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    capture, over, asked = tmp_path / "c.pcapng", threading.Event(), [0, 0, 0, 0]
    options = ("--workers", "3", "--control", "127.0.0.1:0", "--capture", str(capture))
    with ProxyProcess(cluster.bootstrap, *options) as proxy, ExitStack() as load:
        it = control(proxy)

        def ask(place: int, client: socket.socket) -> None:
            while not over.is_set():
                client.sendall(request("ApiVersions", asked[place], version=3))
                asked[place] += bool(frame(client))

        asking = [
            threading.Thread(
                target=ask, args=(n, load.enter_context(connect(proxy.ready["listen"])))
            )
            for n in range(len(asked))
        ]
        for thread in asking:
            thread.start()
        for number in range(40):
            rule = f"{{name: r{number % 3}, when: {{every: 2}}, do: {{delay: 1ms}}}}"
            it.ask("PUT", "/scenario", f"version: 1\nseed: {number}\nrules: [{rule}]".encode())
        over.set()
        for thread in asking:
            thread.join()
    command = [sys.executable, "-m", "barnabas", "rehearse", str(capture), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"0 of {2 * sum(asked)} decisions differ" in checked.stderr, checked.stdout[-1000:]
    assert min(asked) > 0
    assert any(exchange.rules for exchange in open_capture(capture).exchanges())


def test_workers_end_with_their_supervisor(cluster: EmbeddedCluster) -> None:
    with started(
        "proxy", "-b", cluster.bootstrap, "--listen", "127.0.0.1:0", "--workers", "2"
    ) as it:
        process, _ = it
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
        process.communicate(timeout=20)  # ends when nobody has its stdout any more
    assert len(children) == 3
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), "they have ended")


@pytest.mark.parametrize("text", ["0", "-1", "two", "65", "1.5", ""])
def test_a_wrong_number_is_said(text: str) -> None:
    command = [sys.executable, "-m", "barnabas", "proxy", "-b", "127.0.0.1:1", f"--workers={text}"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert f"--workers {text}: give a number from 1 to 64, or auto" in found.stderr

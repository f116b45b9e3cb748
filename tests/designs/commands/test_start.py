"""`peers start rewrite|central`, `produce`, `consume`: a broker that is killed, and wrong input."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from barnabas.cli.peers.kinds import Options
from barnabas.cli.peers.run import start
from barnabas.designs.commands.consume import consume
from barnabas.trouble import COULD_NOT_RUN, MISUSE, Trouble
from tests.waiting import SOON

pytestmark = pytest.mark.timeout(300)

PEERS = [sys.executable, "-m", "barnabas", "peers"]


COORDINATOR = re.compile(r"broker (\d): coordinates (all groups|the groups of slots [\d, ]*\b6\b)")
"""Who coordinates the group g, whose slot is 6, says so."""


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    with subprocess.Popen([*PEERS, *arguments], stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def follow(stream: IO[str] | None, take: Callable[[str], None], news: queue.Queue[None]) -> None:
    """Take the lines of a stream in a thread; news: told of each."""

    def read() -> None:
        for line in stream or ():
            take(line.rstrip())
            news.put(None)

    threading.Thread(target=read, daemon=True).start()


class Consumer:
    """`peers consume`: its records, and what it says. news: told of each line."""

    def __init__(self, process: subprocess.Popen[str], news: queue.Queue[None]) -> None:
        self.process = process
        self.records: list[dict[str, Any]] = []
        self.said: list[str] = []
        follow(process.stdout, lambda line: self.records.append(json.loads(line)), news)
        follow(process.stderr, self.said.append, news)

    @property
    def fetches(self) -> set[int]:
        """The partitions of t that it fetches."""
        reported = [line for line in self.said if " to fetch" in line]
        if not reported or reported[-1].startswith("stops"):
            return set()
        words = reported[-1].partition("t[")[2].partition("]")[0].split()
        return {int(word.partition(":")[0]) for word in words}

    def leave(self) -> None:
        """Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(SOON) == 0


@contextmanager
def consuming(design: str, bootstrap: str, news: queue.Queue[None]) -> Iterator[Consumer]:
    arguments = ("-b", bootstrap, "--group", "g", "--topic", "t", "--json")
    with running("consume", design, *arguments) as process:
        yield Consumer(process, news)


def produce(bootstrap: str, numbers: range) -> tuple[int, str]:
    """Exit code, and what is said."""
    lines = "".join(f"{number}\n" for number in numbers)
    command = [*PEERS, "produce", "-b", bootstrap, "--topic", "t"]
    result = subprocess.run(
        command, input=lines, capture_output=True, text=True, timeout=SOON, check=False
    )
    return result.returncode, result.stderr


def coordinator(notes: list[str]) -> int | None:
    """The broker whose latest word is that it coordinates g: of several the one that said it last."""
    latest: dict[str, str] = {}
    for line in notes:
        name, _, what = line.partition(": ")
        if what.startswith("coordinates"):
            latest.pop(name, None)
            latest[name] = line
    results = [int(output[1]) for line in latest.values() if (output := COORDINATOR.match(line))]
    return results[-1] if results else None


def closes(address: str, data: bytes) -> bool:
    """Whether a broker closes a connection on which it gets this."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=SOON) as connection:
        connection.sendall(data)
        return connection.recv(100) == b""


@pytest.mark.needs_apache("3.9.1")
@pytest.mark.parametrize("design", ["rewrite", "central"])
def test_a_coordinator_that_is_killed_costs_no_record_and_the_group_recovers(design: str) -> None:
    pytest.importorskip("kazoo", reason="needs kazoo (install barnabas with the extra 'zookeeper')")
    news: queue.Queue[None] = queue.Queue()

    notes: list[str] = []
    said = [notes]

    def until(condition: Callable[[], bool]) -> None:
        while not condition():
            try:
                news.get(timeout=2 * SOON)  # two processes start meanwhile
            except queue.Empty:
                pytest.fail("\n".join(line for lines in said for line in lines))

    with running("start", design, "--nodes", "3", "--topic", "t:6") as brokers:
        assert brokers.stdout is not None
        ready = json.loads(brokers.stdout.readline())["ready"]
        bootstrap, pids = ready["bootstrap"], {one["node"]: one["pid"] for one in ready["brokers"]}
        addresses = [one["address"] for one in ready["brokers"]]
        assert addresses == bootstrap.split(",")
        follow(brokers.stderr, notes.append, news)
        until(lambda: coordinator(notes) is not None)
        assert closes(addresses[0], b"GET / HTTP/1.1\r\n\r\n")
        with consuming(design, bootstrap, news) as one, consuming(design, bootstrap, news) as other:
            both = (one, other)
            said += (each.said for each in both)

            def got() -> set[int]:
                return {int(row["value"]) for each in both for row in each.records}

            until(lambda: sorted(map(len, (one.fetches, other.fetches))) == [3, 3])
            assert produce(bootstrap, range(100)) == (0, "100 records sent\n")
            until(lambda: got() == set(range(100)))
            killed = coordinator(notes)
            assert killed is not None
            os.kill(pids[killed], signal.SIGKILL)
            until(lambda: coordinator(notes) != killed)
            assert produce(bootstrap, range(100, 200)) == (0, "100 records sent\n")
            until(lambda: got() == set(range(200)))
            until(lambda: one.fetches | other.fetches == set(range(6)))
            other.leave()
            until(lambda: one.fetches == set(range(6)))
            assert produce(bootstrap, range(200, 220)) == (0, "20 records sent\n")
            until(lambda: got() == set(range(220)))
            one.leave()
        brokers.send_signal(signal.SIGINT)
        assert brokers.wait(SOON) == 0
        assert brokers.stdout.read() == ""
    # one that joins the group just then has no coordinator to lose
    assert any("is lost" in line for each in both for line in each.said)
    assert f"broker {killed} has ended by SIGKILL" in notes
    assert coordinator(notes) not in (killed, None)
    assert not any("Traceback" in line for line in notes)
    assert [pid for pid in pids.values() if Path(f"/proc/{pid}").exists()] == []


def begin(**options: Any) -> Callable[[], object]:
    return lambda: start("rewrite", options=Options(**options))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (begin(topics=["t:"]), "--topic t:: expected NAME:PARTITIONS"),
        (begin(topics=[":4"]), "--topic :4"),
        (begin(topics=["t:0"]), "--topic t:0"),
        (begin(topics=["t:6", "u", "t:3"]), "--topic t:3: t was given before"),
        (begin(topics=["\udcff"]), r"--topic: '\udcff' is not valid UTF-8"),
        (begin(topics=["€" * 30]), "its logs' names have 276 bytes; 255 is the most"),
        (begin(listen="nonsense"), "'nonsense' is not an address"),
        (begin(listen="127.0.0.1:65535"), "--listen"),
        (begin(zookeeper="::::"), "'::::' is not an address"),
        (begin(zookeeper="localhost"), "'localhost' is not an address"),
        (
            lambda: consume("rewrit", "a:1", "g", "t"),
            "unknown design 'rewrit'; did you mean 'rewri",
        ),
        (lambda: consume("rewrite", "a", "g", "t"), "--bootstrap-server: 'a' is not host:port"),
        *(
            (
                lambda kind=kind: start(kind, options=Options(topics=["t:1"])),
                f"--topic is for central and rewrite, not for {kind}",
            )
            for kind in ("embedded", "apache:3.9.1")
        ),
    ],
)
def test_wrong_options_are_misuse_in_a_line(call: Callable[[], object], said: str) -> None:
    with pytest.raises(Trouble) as caught:
        call()
    assert caught.value.code == MISUSE
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow("waits for a ZooKeeper that does not answer")
def test_a_zookeeper_that_is_not_reached_is_said_in_a_line() -> None:
    pytest.importorskip("kazoo")
    with pytest.raises(Trouble) as caught:
        start("central", options=Options(zookeeper="127.0.0.1:1"))
    assert caught.value.code == COULD_NOT_RUN
    assert "no ZooKeeper answers at 127.0.0.1:1" in str(caught.value)


def test_a_port_in_use_is_said_before_zookeeper_is_waited_for() -> None:
    pytest.importorskip("kazoo")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        options = Options(listen=f"127.0.0.1:{port}", zookeeper="127.0.0.1:1")
        with pytest.raises(Trouble) as caught:
            start("rewrite", 1, options=options)
    assert caught.value.code == COULD_NOT_RUN
    output = f"broker 1 can't listen on 127.0.0.1:{port}: Address already in use"
    assert str(caught.value) == f"{output}; choose another --listen"


def test_records_that_can_not_be_sent_are_said() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # nobody else gets the port, and nobody listens
        port = deaf.getsockname()[1]
        code, said = produce(f"127.0.0.1:{port}", range(1))
    assert code == COULD_NOT_RUN
    assert len(said.splitlines()) == 1
    assert said.endswith(f"127.0.0.1:{port}: Connection refused; 0 records sent\n")

"""The command line as a person or a program meets it: processes, exit codes, one-line errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.command import run
from tests.places import SAMPLES
from tests.remaining import remaining

SAMPLE = str(SAMPLES / "rebalance.pcap.gz")

BARNABAS = [sys.executable, "-m", "barnabas"]


@contextmanager
def started(*arguments: str, **more: Any) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A process that prints a ready line, with what the line says."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([*BARNABAS, *arguments], **{**pipes, **more})
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        yield process, json.loads(line)["ready"]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.parametrize("command", ["peers list", "spec list --json"])
def test_an_output_on_a_full_disk_is_one_line(command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        line = [*BARNABAS, *command.split()]
        found = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True)
    said = "barnabas: the output is not complete: No space left on device\n"
    assert (found.returncode, found.stderr) == (3, said)


@pytest.mark.parametrize(
    "command",
    [
        *(f"decode {SAMPLE}", f"decode {SAMPLE} --json", f"decode {SAMPLE} --frames"),
        *(f"summary {SAMPLE}", "spec list --json", "scenario schema", "peers list", "--help"),
    ],
)
def test_a_reader_that_has_seen_enough_is_no_trouble(command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        line = [*BARNABAS, *command.split()]
        found = subprocess.run(line, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert (found.returncode, "Broken" in found.stderr) == (0, False)


def test_the_proxy_from_start_to_interrupt(tmp_path: Path) -> None:
    from confluent_kafka import Consumer, Producer

    capture, scenario = tmp_path / "run.pcapng", tmp_path / "slow.yaml"
    scenario.write_text(
        "version: 1\nrules:\n  - name: slow\n    match: {api: Metadata, direction: response}\n"
        "    do: {delay: 20ms}\n"
    )
    with EmbeddedCluster(3, topics={"orders": 3}) as cluster:
        options = ("--log", "json", "--capture", str(capture), "--scenario", str(scenario))
        arguments = ("proxy", "-b", cluster.bootstrap, "--listen", "127.0.0.1:0", *options)
        with started(*arguments) as (process, ready):
            settings = {"bootstrap.servers": ready["listen"], "log_level": 0}
            producer = Producer({**settings, "client.id": "maker"})
            for number in range(50):
                producer.produce("orders", f"value-{number}", partition=number % 3)
            assert producer.flush(60) == 0
            group = {"group.id": "g", "auto.offset.reset": "earliest"}
            consumer = Consumer({**settings, **group, "client.id": "taker"})
            consumer.subscribe(["orders"])
            received: set[str] = set()
            while len(received) < 50:
                for message in consumer.consume(50 - len(received), timeout=60):
                    assert message.error() is None
                    received.add(message.value().decode())
            consumer.close()
            assert process.stdout is not None
            live: list[dict[str, Any]] = []
            while not (live and live[-1]["api"] == "LeaveGroup"):  # its log may be behind
                live.append(json.loads(process.stdout.readline()))
            process.send_signal(signal.SIGINT)
            out, errors = remaining(process, 60)
    assert process.returncode == 0, errors
    live += [json.loads(line) for line in out.splitlines()]
    assert {"Metadata", "Produce", "JoinGroup", "Fetch", "OffsetFetch"} <= {x["api"] for x in live}
    slow = [x for x in live if x["rules"] == ["slow"]]
    assert slow
    assert all(x["latency_ms"] >= 20 for x in slow)
    assert "edit: brokers' addresses are replaced" in errors
    assert errors.count("listening on") == 4
    assert "Produce" in errors  # in the closing table
    assert str(capture) in errors

    decoded = run("decode", capture, "--json")
    assert decoded.returncode == 0, decoded.stderr
    key = json.dumps
    assert sorted(decoded.rows, key=key) == sorted(live, key=key)
    fetches = run("decode", capture, "--json", "--filter", "api == 'Fetch' && latency_ms > 0")
    meant = [x for x in live if x["api"] == "Fetch" and x["latency_ms"]]
    assert sorted(fetches.rows, key=key) == sorted(meant, key=key)
    assert f"{len(live) - len(meant)} exchanges not shown: --filter" in fetches.stderr
    pretty = run("decode", capture).stdout.splitlines()
    assert len(pretty) == len(live)
    assert "\x1b" not in "".join(pretty)
    frames = run("decode", capture, "--frames", "--json").rows
    requests = [x for x in frames if x["direction"] == "request" and x["flow"] == "arrived"]
    assert len(requests) == len(live)


def test_nothing_is_printed_after_the_reader_of_the_output_has_gone() -> None:
    from confluent_kafka.admin import AdminClient

    with EmbeddedCluster(1) as cluster:
        arguments = ("proxy", "-b", cluster.bootstrap, "--listen", "127.0.0.1:0", "--log", "json")
        with started(*arguments) as (process, ready):
            assert process.stdout is not None
            process.stdout.close()
            process.stdout = None
            for _ in range(3):  # traffic goes on
                admin = AdminClient({"bootstrap.servers": ready["listen"], "log_level": 0})
                assert admin.list_topics(timeout=60).brokers
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
            assert "Traceback" not in errors

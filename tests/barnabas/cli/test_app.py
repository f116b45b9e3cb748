"""The command line as a person or a program meets it: processes, exit codes, one-line errors."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from barnabas import captures
from barnabas.cli.app import app
from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.command import run

SAMPLE = str(Path(captures.__file__).with_name("samples") / "rebalance.pcap.gz")

BARNABAS = [sys.executable, "-m", "barnabas"]


@pytest.fixture(scope="module")
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "wrong.yaml").write_text(
        "version: 1\nrules:\n  - name: a\n    do: {delai: 200ms}\n    match: {api: Fetch}\n"
    )
    (folder / "right.yaml").write_text(
        "version: 1\nrules:\n  - name: a\n    do: {delay: 200ms}\n    match: {api: Fetch}\n"
    )
    (folder / "idle.yaml").write_text(
        "version: 1\nrules:\n"
        "  - {name: a, do: {delay: 200ms}, match: {api: Fetch, acks: 1}}\n"
        "  - {name: b, do: {delay: 200ms}, match: {api: Fetch}}\n"
    )
    (folder / "text.pcapng").write_text("this is no capture, but long enough to be one")
    (folder / "folder").mkdir()
    return folder


PROXY = ("proxy", "-b", "127.0.0.1:1", "--listen", "127.0.0.1:0")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("proxy", "-b", "nonsense:port"), "'nonsense:port' is no address"),
        (("proxy", "-b", "a:" + "9" * 5_000), f"'a:{'9' * 77}…' is no address"),
        (("proxy", "-b", ","), "no bootstrap server"),
        (("proxy", "-b", "a:1", "--listen", "127.0.0.1"), "is no address"),
        ((*PROXY, "--broker-ports", "9-1"), "is no range of ports"),
        ((*PROXY, "--capture-limit", "1000", "-c", "x.pcapng"), "--capture-limit"),
        ((*PROXY, "--frame-limit", "many"), "--frame-limit"),
        ((*PROXY, "--filter", "latency > 5"), "--filter: exchanges have no column 'latency'; did"),
        ((*PROXY, "--filter", "api ="), "does not compile"),
        ((*PROXY, "--quiet-fetches", "--log", "json"), "give it with --log pretty"),
        (
            (*PROXY, "--filter", "api == 'Fetch'", "--log", "off"),
            "--filter selects what the log shows",
        ),
        ((*PROXY, "--max-version", "Fetch"), "--max-version: 'Fetch' is no API and version"),
        ((*PROXY, "--max-version", "Fetsh=3"), "did you mean 'Fetch'?"),
        ((*PROXY, "--pretend", "0.9"), "--pretend: no release '0.9' with ApiVersions is known"),
        ((*PROXY, "--connect-timeout", "10"), "--connect-timeout: 10 needs a unit"),
        ((*PROXY, "--drain", "soon"), "--drain: 'soon' is no duration"),
        (
            (*PROXY, "--scenario", "missing.yaml"),
            "scenario: no scenario and no file 'missing.yaml'",
        ),
        ((*PROXY, "--scenario", "folder"), "no scenario and no file 'folder'"),
        ((*PROXY, "--scenario", "wrong.yaml"), "wrong.yaml:4: unknown key 'delai' in do"),
        ((*PROXY, "--capture", "no/such/folder.pcapng"), "can't write the capture"),
        ((*PROXY, "--capture", "x" * 300), "File name too long"),
        (("analyze", "x" * 300, "-o", "out"), "File name too long"),
        ((*PROXY, "--capture", "folder"), "folder is a folder: a capture of segments goes there"),
        ((*PROXY, "--rotate", "1GiB"), "--rotate needs a capture: give --capture FOLDER too"),
        ((*PROXY, "--rotate-keep", "3"), "give --rotate too"),
        ((*PROXY, "-c", "new", "--rotate", "many"), "--rotate: 'many' is no size such as 64KiB"),
        ((*PROXY, "-c", "new", "--rotate", "1KiB"), "too small for a segment; give at least 64KiB"),
        ((*PROXY, "-c", "new", "--rotate", "1s,2s"), "one size, one time, or one of each"),
        ((*PROXY, "-c", "text.pcapng", "--rotate", "1m"), "can't write the capture text.pcapng"),
        (("decode", "folder"), "can't read the capture folder: there is no capture in this folder"),
        (("analyze", "text.pcapng", "-o", "new", "--follow"), "--follow takes one folder"),
        (("analyze", "missing", "-o", "new", "--follow"), "missing: no such folder"),
        (
            ("analyze", "folder", "text.pcapng", "-o", "new", "--follow"),
            "--follow takes one folder",
        ),
        (
            ("analyze", "folder", "-o", "new", "--follow", "--master", "sc://127.0.0.1"),
            "--follow reads the folder on this machine",
        ),
        (("analyze", "folder", "-o", "new", "--once"), "--once says when --follow ends"),
        (
            ("analyze", "folder", "-o", "new", "--set", "quality.x=1"),
            "there is no 'quality.x': choose from quality.errors, quality.",
        ),
        (("decode", "missing.pcapng"), "can't read the capture missing.pcapng"),
        (("decode", "text.pcapng"), "text.pcapng is not a capture"),
        (("decode", "text.pcapng", "--filter", "apo == 'Fetch'"), "did you mean 'api'?"),
        (("decode", "text.pcapng", "--frames", "--filter", "api"), "omit --frames"),
        (("decode", "--request", "00", "--filter", "api"), "--filter applies to a capture file"),
        (("decode", "text.pcapng", "--frames", "--quiet-fetches"), "omit --json and --frames"),
        (("decode", "text.pcapng", "--bodies", "full"), "--bodies changes only rows of exchanges"),
        (
            ("decode", "text.pcapng", "--frames", "--json", "--bodies", "full"),
            "--bodies changes only rows of exchanges",
        ),
        (("decode", "--request", "00", "--bodies", "full"), "--bodies applies to a capture file"),
        (("grep", "x", "text.pcapng", "--bodies", "full"), "--bodies changes only rows"),
        (
            (*PROXY, "--bodies", "full"),
            "--bodies changes only the JSON log: give it with --log json",
        ),
        (
            ("decode", "--request", "00", "--no-quiet-fetches"),
            "--quiet-fetches applies to a capture",
        ),
        (("decode", "folder"), "can't read the capture folder"),
        (("scenario", "check", "wrong.yaml"), "did you mean 'delay'?"),
        (("scenario", "check", "right.yaml", "wrong.yaml"), "wrong.yaml:4"),
        (("peers", "start", "zookeeper"), "unknown kind of brokers 'zookeeper'"),
        (("--nope",), "No such option: --nope; see barnabas --help"),
        (("xyzzy",), "No such command 'xyzzy'; see barnabas --help"),
        (("serve",), "Missing argument 'FILE'; see barnabas serve --help"),
        (("spec", "show", "--vers\x1b[2J"), "see barnabas spec show --help"),
    ],
)
def test_misuse_is_one_line_that_says_what_to_do(
    files: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = run(*arguments, cwd=files)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert len([line for line in result.stderr.splitlines() if line]) == 1


def test_a_port_in_use_is_named(taken_port: int) -> None:
    result = run("proxy", "-b", "127.0.0.1:1", "--listen", f"127.0.0.1:{taken_port}")
    assert result.returncode == 2
    assert f"can't listen on 127.0.0.1:{taken_port}" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unknown_option_is_misuse() -> None:
    result = run("proxy", "--bootstrap", "a:1")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("proxy",),
        ("decode",),
        ("scenario", "check"),
        ("scenario", "schema"),
        ("peers", "start"),
    ],
)
def test_help_says_what_there_is(arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "--help")
    assert result.returncode == 0
    assert "Usage" in result.stdout


def test_a_right_scenario_is_fine(files: Path) -> None:
    result = run("scenario", "check", "right.yaml", cwd=files)
    assert (result.returncode, result.stdout) == (0, "right.yaml: fine, 1 rule\n")


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--strict",), 1)])
def test_a_rule_that_can_not_do_anything_is_not_called_fine(
    files: Path, options: tuple[str, ...], code: int
) -> None:
    result = run("scenario", "check", *options, "idle.yaml", "right.yaml", cwd=files)
    assert (result.returncode, result.stderr) == (code, "")
    assert result.stdout.splitlines() == [
        "idle.yaml: warning: rule 'a' never fires: only Produce requests have acks, no Fetch message"
        " has",
        "idle.yaml: loads, with 1 warning, 2 rules",
        "right.yaml: fine, 1 rule",
    ]


def test_the_schema_is_json() -> None:
    schema = json.loads(run("scenario", "schema").stdout)
    assert schema["$schema"].endswith("2020-12/schema")


def test_kinds_of_peers_are_listed() -> None:
    result = run("peers", "list")
    assert result.returncode == 0
    assert result.stdout.startswith("embedded")


def test_the_version_is_printed() -> None:
    assert run("--version").stdout.startswith("barnabas ")


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of a command and of all below it."""
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, name))


@pytest.mark.parametrize("command", [*commands(typer.main.get_command(app))], ids=" ".join)
def test_no_name_is_cut_in_the_help_on_a_terminal_of_80_columns(command: tuple[str, ...]) -> None:
    said = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80"}).stdout
    assert "Usage: " in said
    assert "…" not in said


@pytest.mark.parametrize("command", [("peers", "list"), ("spec", "list", "--json")])
def test_an_output_on_a_full_disk_is_one_line(command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        found = subprocess.run(
            [*BARNABAS, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    said = "barnabas: the output is not complete: No space left on device\n"
    assert (found.returncode, found.stderr) == (3, said)


@pytest.mark.parametrize(
    "command",
    [
        ("decode", SAMPLE),
        ("decode", SAMPLE, "--json"),
        ("decode", SAMPLE, "--frames"),
        ("summary", SAMPLE),
        ("spec", "list", "--json"),
        ("scenario", "schema"),
        ("peers", "list"),
        ("--help",),
        ("peers", "start", "--help"),
    ],
)
def test_a_reader_that_has_seen_enough_is_no_trouble(command: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        found = subprocess.run(
            [*BARNABAS, *command], stdout=closed, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (found.returncode, "Broken" in found.stderr) == (0, False)


def test_a_capture_into_a_pipe_that_nobody_reads_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found = run(*PROXY, "--capture", str(tmp_path / "pipe"))
    assert (found.returncode, found.stdout) == (2, "")
    assert "the pipe has no reader; start its reader first" in found.stderr


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A process that prints a ready line, with what the line says."""
    process = subprocess.Popen(
        [*BARNABAS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        yield process, json.loads(line)["ready"]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_the_embedded_cluster_runs_until_it_is_interrupted() -> None:
    with started("peers", "start", "embedded", "--brokers", "2") as (process, ready):
        addresses = ready["bootstrap"].split(",")
        assert len(addresses) == 2
        for address in addresses:
            host, port = address.split(":")
            socket.create_connection((host, int(port)), timeout=5).close()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
        assert process.returncode == 0
        assert "Traceback" not in errors


def test_the_proxy_from_start_to_interrupt(tmp_path: Path) -> None:
    from confluent_kafka import Consumer, Producer

    capture = tmp_path / "run.pcapng"
    scenario = tmp_path / "slow.yaml"
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
            assert producer.flush(10) == 0
            group = {"group.id": "g", "auto.offset.reset": "earliest"}
            consumer = Consumer({**settings, **group, "client.id": "taker"})
            consumer.subscribe(["orders"])
            received: set[str] = set()
            while len(received) < 50:
                for message in consumer.consume(50, timeout=10):
                    assert message.error() is None
                    received.add(message.value().decode())
            consumer.close()
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=20)
    assert process.returncode == 0, errors
    live = [json.loads(line) for line in out.splitlines()]
    assert {"Metadata", "Produce", "JoinGroup", "Fetch", "OffsetFetch"} <= {x["api"] for x in live}
    slow = [x for x in live if x["rules"] == ["slow"]]
    assert slow
    assert all(x["latency_ms"] >= 20 for x in slow)
    assert "edit: brokers' addresses are replaced" in errors
    assert errors.count("listening on") == 4
    assert "Produce" in errors  # in the closing table
    assert str(capture) in errors

    decoded = run("decode", str(capture), "--json")
    assert decoded.returncode == 0, decoded.stderr
    again = [json.loads(line) for line in decoded.stdout.splitlines()]
    key = json.dumps
    assert sorted(again, key=key) == sorted(live, key=key)

    fetches = run("decode", str(capture), "--json", "--filter", "api == 'Fetch' && latency_ms > 0")
    found = [json.loads(line) for line in fetches.stdout.splitlines()]
    meant = [x for x in live if x["api"] == "Fetch" and x["latency_ms"]]
    assert sorted(found, key=key) == sorted(meant, key=key)
    assert f"{len(live) - len(found)} exchanges not shown: --filter" in fetches.stderr

    pretty = run("decode", str(capture)).stdout.splitlines()
    assert len(pretty) == len(live)
    assert "\x1b" not in "".join(pretty)
    frames = [
        json.loads(x) for x in run("decode", str(capture), "--frames", "--json").stdout.splitlines()
    ]
    requests = [x for x in frames if x["direction"] == "request" and x["flow"] == "arrived"]
    assert len(requests) == len(live)


def test_nothing_is_printed_after_the_reader_of_the_output_has_gone(tmp_path: Path) -> None:
    with EmbeddedCluster(1) as cluster:
        arguments = ("proxy", "-b", cluster.bootstrap, "--listen", "127.0.0.1:0", "--log", "json")
        with started(*arguments) as (process, ready):
            assert process.stdout is not None
            process.stdout.close()
            process.stdout = None
            from confluent_kafka.admin import AdminClient

            for _ in range(3):  # traffic goes on
                admin = AdminClient({"bootstrap.servers": ready["listen"], "log_level": 0})
                assert admin.list_topics(timeout=10).brokers
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
            assert process.returncode == 0, errors
            assert "Traceback" not in errors

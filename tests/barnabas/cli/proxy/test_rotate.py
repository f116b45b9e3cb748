"""`barnabas proxy --rotate`: a folder of segments, which every command reads as one capture."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.command import Ran, run
from tests.barnabas.cli.test_app import started
from tests.captures.traffic import exchanges, gist, tshark
from tests.waiting import until


class Run(NamedTuple):
    """What a proxy left."""

    folder: Path
    live: list[dict[str, Any]]
    errors: str
    status: dict[str, Any]


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(2, topics={"orders": 2}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def rotated(cluster: EmbeddedCluster, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run") / "captures"
    options = ("--log", "json", "--capture", str(folder), "--rotate", "64KiB")
    control = ("--control", "127.0.0.1:0")
    command = ("proxy", "-b", cluster.bootstrap, "--listen", "127.0.0.1:0", *options, *control)
    with started(*command) as (process, ready):
        produce(ready["listen"], 60, 10_000)
        consume(ready["listen"], 60)
        where = ("--control", ready["control"], "--token", ready["token"])
        status = json.loads(run("ctl", "status", *where, "--json").stdout)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    return Run(folder, [json.loads(line) for line in out.splitlines()], errors, status)


def produce(bootstrap: str, count: int, size: int) -> None:
    from confluent_kafka import Producer

    settings = {"bootstrap.servers": bootstrap, "log_level": 0, "linger.ms": 0}
    producer = Producer({**settings, "client.id": "maker"})
    for number in range(count):
        producer.produce("orders", f"{number:{size}}", partition=number % 2)
        assert producer.flush(10) == 0


def produced(folder: Path) -> list[str]:
    """The Produce exchanges in segments that are complete, or written just now."""
    return run("decode", "--json", str(folder), "--filter", "api == 'Produce'").stdout.splitlines()


def consume(bootstrap: str, count: int) -> None:
    from confluent_kafka import Consumer

    settings = {"bootstrap.servers": bootstrap, "log_level": 0, "client.id": "taker"}
    consumer = Consumer({**settings, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    received = 0
    while received < count:
        for message in consumer.consume(count, timeout=10):
            assert message.error() is None
            received += 1
    consumer.close()


def lines(result: Ran) -> list[str]:
    assert result.returncode == 0, result.stderr
    return sorted(json.dumps(row, sort_keys=True) for row in result.rows)


def test_segments_are_what_the_log_showed(rotated: Run) -> None:
    files = sorted(rotated.folder.iterdir())
    assert len(files) > 10
    assert all(path.suffix == ".pcapng" for path in files)
    assert all(path.stat().st_size < 4 << 16 for path in files)
    live = sorted(json.dumps(row, sort_keys=True) for row in rotated.live)
    assert lines(run("decode", "--json", str(rotated.folder))) == live
    assert lines(run("decode", "--json", *map(str, reversed(files)))) == live


def test_what_is_said_of_segments(rotated: Run) -> None:
    files = sorted(rotated.folder.iterdir())
    errors = rotated.errors.replace("\n", "")
    for path in files:
        assert f"{path.name} is closed" in errors
    assert f" in {len(files)} segments" in rotated.errors.replace("\n", " ")
    assert 5 < rotated.status["capture"]["segments"] < len(files)


@pytest.mark.parametrize(
    "command",
    [("summary", "--json"), ("check",), ("grep", "orders", "--json"), ("rehearse", "{right}")],
    ids=lambda command: command[0],
)
def test_a_folder_is_to_every_command_what_one_file_is(
    rotated: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    one = tmp_path / "one.pcapng"
    (tmp_path / "right.yaml").write_text(
        "version: 1\nrules:\n  - name: a\n    match: {api: Fetch}\n    do: {delay: 200ms}\n"
    )
    written = run("convert", str(rotated.folder), str(one))
    assert written.returncode == 0, written.stderr
    arguments = [part.format(right=tmp_path / "right.yaml") for part in command]
    expected, found = (run(*arguments, str(path)) for path in (one, rotated.folder))
    assert found.returncode == expected.returncode
    said = [
        plain(result.stdout + result.stderr, path)
        for path, result in ((one, expected), (rotated.folder, found))
    ]
    assert said[0]
    assert said[0] == said[1]


def plain(text: str, name: Path) -> str:
    """Without the file's name, and the numbers of packets: in segments some are introductions."""
    return re.sub(r'(frames?|packets?"?:?) \[?[0-9, -]+', "", text.replace(str(name), ""))


def test_a_segment_that_is_missing_is_said(rotated: Run) -> None:
    files = sorted(rotated.folder.iterdir())
    result = run("decode", *map(str, files[:4] + files[6:]))
    assert result.returncode == 0
    assert "2 segments are missing: 5-6" in result.stderr.replace("\n", " ")


@pytest.mark.needs_tshark
def test_tshark_reads_a_middle_segment_and_all_of_them(rotated: Run, tmp_path: Path) -> None:
    files = sorted(rotated.folder.iterdir())
    together = tmp_path / "all.pcapng"
    subprocess.run(["mergecap", "-a", "-w", together, *files], check=True, timeout=60)
    trouble = "tcp.analysis.retransmission or tcp.analysis.lost_segment"
    for path in (files[5], together):
        assert tshark(path, "-e", "frame.number")
        assert not tshark(path, "-Y", trouble, "-e", "frame.number")
    ends = ("-e", "tcp.srcport", "-e", "tcp.dstport")
    assert set(tshark(files[5], *ends)) & set(tshark(files[0], *ends))
    # packets are numbered as in the file that mergecap makes
    found = exchanges(rotated.folder)
    comments = dict(
        line.split("\t", 1)
        for line in tshark(together, "-e", "frame.number", "-e", "tcp.len", "-e", "tcp.dstport")
    )
    for one in found:
        size, port = comments[str(one.request_packet)].split("\t")
        assert int(size) > 0
        assert port == one.server_address.rpartition(":")[2]


@pytest.mark.slow("a proxy in a process of its own")
def test_a_killed_proxy_leaves_segments_that_are_read_and_kept(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    folder = tmp_path / "captures"
    options = ("--log", "off", "--capture", str(folder), "--rotate", "64KiB,1h")
    command = ("proxy", "-b", cluster.bootstrap, "--listen", "127.0.0.1:0", *options)
    with started(*command) as (process, ready):
        produce(ready["listen"], 20, 10_000)
        until(
            lambda: len(produced(folder)) == 20
        )  # what waits for the next segment is lost with it
        process.kill()
        process.wait(timeout=10)
    # it may have been at turning from one to the next, of which there is nothing yet
    written = [path for path in folder.iterdir() if path.stat().st_size]
    before = {path.name.removesuffix(".part"): path.read_bytes() for path in written}
    assert len(before) > 2
    parts = [path for path in written if path.suffix == ".part"]
    assert 1 <= len(parts) <= 2
    for part in parts:
        assert run("decode", str(part)).returncode == 0
    assert len(produced(folder)) == 20
    with started(*command) as (process, ready):
        busy = run(*command)
        assert busy.returncode == 2
        assert "another proxy is writing there" in busy.stderr.replace("\n", " ")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert not list(folder.glob("*.part"))
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert len(list(folder.iterdir())) == len(before) + 1


def test_a_segment_converts_to_what_it_says_alone(rotated: Run, tmp_path: Path) -> None:
    middle = sorted(rotated.folder.iterdir())[5]
    out = tmp_path / "middle.pcapng"
    found = run("convert", str(middle), str(out))
    assert found.returncode == 0
    assert "the requests are in an earlier segment, which was not given" in found.stderr
    assert gist(exchanges(out)) == gist(exchanges(middle))
    assert exchanges(out)

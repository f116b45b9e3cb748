"""`barnabas top` over captures, and over a proxy's control port, on a terminal and without."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path
from threading import Event

import pytest
from confluent_kafka import Producer
from rich.live import Live

from barnabas.cli.console.terminal import Terminal
from barnabas.cli.top.screen import watch
from barnabas.cli.top.sources import Show, Snapshot
from tests.barnabas.cli.command import run
from tests.barnabas.cli.ctl.bench import DEADLINE, Bench
from tests.barnabas.cli.ctl.conftest import bench, cluster  # noqa: F401 - fixtures
from tests.barnabas.cli.test_app import BARNABAS
from tests.places import SAMPLES

REBALANCE = SAMPLES / "rebalance.pcap.gz"


class Screen:
    """A program on a pseudo-terminal.

    setsid (util-linux) makes it the program's controlling terminal: pty.fork would run Python in a child of
    this process, whose other threads (JVMs, librdkafka) are gone there.
    """

    def __init__(self, *words: str, size: tuple[int, int] = (100, 30)) -> None:
        self._descriptor, terminal = pty.openpty()
        self.resize(*size)
        # COLUMNS and LINES would stand for the real size
        environment = {key: os.environ[key] for key in os.environ.keys() - {"COLUMNS", "LINES"}}
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *BARNABAS, *words],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=environment | {"TERM": "xterm-256color"},
        )
        os.close(terminal)
        self.text = ""

    def resize(self, columns: int, lines: int) -> None:
        ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def until(self, pattern: str) -> str:
        """Read until a pattern is in the text since the last call; return this text without colours."""
        silent = 0  # seconds; those in which the whole machine stands still do not count
        while silent < DEADLINE:
            plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.text)
            if re.search(pattern, plain):
                self.text = ""
                return plain
            ready, _, _ = select.select([self._descriptor], [], [], 1)
            if ready and not self._read():
                break
            silent += not ready
        raise AssertionError(f"no {pattern!r} in {self.text!r}")

    def _read(self) -> bool:
        try:
            data = os.read(self._descriptor, 1 << 16)
        except OSError:  # the program has ended
            return False
        self.text += data.decode("utf-8", "replace")
        return bool(data)

    def code(self) -> int:
        """Return the exit code."""
        while self._read():
            pass
        os.close(self._descriptor)
        return self.process.wait(DEADLINE)


@contextmanager
def screen(*words: str, **more: tuple[int, int]) -> Iterator[Screen]:
    shown = Screen(*words, **more)
    try:
        yield shown
    except BaseException:
        shown.process.kill()
        shown.code()
        raise


def test_a_capture_is_printed_once() -> None:
    result = run("top", REBALANCE)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"barnabas top {REBALANCE}  ")
    assert lines[1].startswith("14.7 exchanges/s  3.5 KiB/s  0.70 errors/s  ")
    assert [line.split()[0] for line in lines if "req/s" in line] == ["client", "topic", "API"]
    assert "readers             0  empty           2    0  classic  roundrobin" in lines
    assert not any(line != line.rstrip() for line in lines)


def test_the_end_of_a_cut_capture_is_noted(tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes((SAMPLES / "faults.pcapng").read_bytes()[:5000])
    result = run("top", cut, "--once")
    assert result.returncode == 0
    assert f"{cut} ends in the middle of a block" in result.stderr


class Idle:
    """A source without snapshots."""

    name, is_live = "idle", True

    def follow(self, show: Show, interval: float, stopped: Event) -> None:
        stopped.wait()

    def once(self) -> Snapshot:
        return {}


def test_an_interrupt_while_the_screen_begins_leaves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal(file=io.StringIO(), force_terminal=True, width=80, height=25)

    def interrupted(live: Live, refresh: bool = False) -> None:
        live.console.set_alt_screen()
        raise KeyboardInterrupt

    monkeypatch.setattr(Live, "start", interrupted)
    assert watch(Idle(), 1.0, out) is None
    assert isinstance(out.file, io.StringIO)
    assert re.findall(r"\x1b\[\?1049.", out.file.getvalue()) == ["\x1b[?1049h", "\x1b[?1049l"]


def test_a_snapshot_as_json() -> None:
    result = run("top", REBALANCE, "--once", "--json")
    document = result.document
    assert (result.returncode, document["total"]["count"]) == (0, 84)
    assert {row["name"] for row in document["groups"]} == {"readers"}


@pytest.mark.slow("a program on a pseudo-terminal")
def test_keys_on_a_capture_that_is_being_written(tmp_path: Path) -> None:
    growing = tmp_path / "growing.pcapng"
    shutil.copyfile(SAMPLES / "faults.pcapng", growing)
    os.utime(growing, (2**32, 2**32))  # just written, however long the test takes: more may come
    with screen("top", str(growing), "-n", "0.2") as shown:
        shown.until(r"client .*req/s ▾[\s\S]*API [\s\S]*q quit")
        shown.press("3")
        text = shown.until(r"group .*members ▾[\s\S]*q quit")
        assert "API" not in text.rpartition("group")[2]
        shown.press("0/nobody\r")
        shown.until("filter: nobody  q quit")
        shown.press("\x1bp")
        shown.until("PAUSED")
        shown.resize(60, 20)
        shown.until("PAUSED")
        shown.press("q")
        assert shown.code() == 0


@pytest.mark.slow("a proxy in a process of its own")
def test_a_proxy_is_watched(bench: Bench) -> None:  # noqa: F811
    producer = bench.client(Producer, "maker")
    assert bench.produce(producer) == [None]
    once = run("top", bench.ready["control"], "--token-file", bench.token_file, "--once", "--json")
    assert (once.returncode, once.stderr) == (0, "")
    with screen("top", *bench.where, "-n", "0.2", size=(120, 40)) as shown:
        shown.until("q quit")
        assert bench.produce(producer) == [None]
        text = shown.until(r"maker .*Produce[\s\S]*orders .*[\s\S]*Produce ")
        assert f"proxy {bench.ready['control']}" in text
        shown.press("\x03")
        assert shown.code() == 0


@pytest.mark.slow("a proxy in a process of its own")
def test_json_lines_until_the_proxy_stops(bench: Bench) -> None:  # noqa: F811
    words = ["top", f"http://{bench.ready['control']}/", *bench.where[2:], "--json", "-n", "0.1"]
    process = subprocess.Popen([*BARNABAS, *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    bench.produced("maker")
    later = first
    while not later["total"]["count"]:
        later = json.loads(process.stdout.readline())
    assert later["connections"] > 0
    bench.fine("drain")
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 0

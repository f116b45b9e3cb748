"""A disk, or a reader of a pipe, that takes its time with a capture: it costs the traffic nothing, and what
is not in the capture is counted."""

from __future__ import annotations

import os
import re
import shutil
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.files.pcapng import Packet
from barnabas.peers.embedded import EmbeddedCluster
from tests.captures.files.test_pcapng import blocks
from tests.real.load import Sender, asking, read_log
from tests.real.process import ProxyProcess, passed
from tests.waiting import SOON, until

pytestmark = pytest.mark.slow("64 MiB must pass before any of it is lost")

LARGE: Final = "n" * 30_000
"""A client's software name."""

ENOUGH: Final = 3000
"""Exchanges with it: more than wait for the disk (barnabas.captures.writing.sink.QUEUE)."""

PARTITIONS: Final = 3

SLOW: Final = """
import os, stat, time
fast = os.writev
def slow(file, buffers):
    while stat.S_ISREG(os.fstat(file).st_mode) and os.path.exists({busy!r}):
        time.sleep(0.01)
    return fast(file, buffers)
os.writev = slow
from barnabas.cli.app import main
main()
"""
"""Regular files are on a disk that writes nothing while there is a file `busy`."""

MAIN: Final = ("-m", "barnabas")


class SlowReader(threading.Thread):
    """Reads a pipe into a file, to its end, as soon as it is told that it may."""

    def __init__(self, pipe: Path, file: Path) -> None:
        super().__init__()
        self._pipe = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(self._pipe, True)
        self._file = file
        self.hurry = threading.Event()

    def run(self) -> None:
        with os.fdopen(self._pipe, "rb") as pipe, self._file.open("wb") as file:
            self.hurry.wait()
            shutil.copyfileobj(pipe, file)


@pytest.mark.parametrize("slow", ["disk", "pipe"])
def test_what_is_too_slow_for_the_traffic_is_counted(slow: str, tmp_path: Path) -> None:
    file = given = tmp_path / "run.pcapng"
    busy = tmp_path / "busy"
    reader = None
    if slow == "pipe":
        given = tmp_path / "pipe"
        os.mkfifo(given)
        reader = SlowReader(given, file)
    with (
        EmbeddedCluster(1, topics={"t": PARTITIONS}) as cluster,
        ProxyProcess(
            cluster.bootstrap,
            *("--capture", str(given)),
            program=("-c", SLOW.format(busy=str(busy))) if slow == "disk" else MAIN,
        ) as proxy,
    ):
        busy.touch()
        if reader is not None:
            reader.start()
        with ExitStack() as load:
            sender = load.enter_context(Sender(proxy.bootstrap, "t", PARTITIONS))
            answered = load.enter_context(asking(proxy.address, client_software_name=LARGE))
            until(lambda: len(answered) >= ENOUGH, "all are answered", 60)
            until(lambda: len(sender.acknowledged) >= 100, "records pass", 60)
        assert not sender.failed
        assert set(read_log(cluster.bootstrap, "t", PARTITIONS)) == set(sender.acknowledged)
        busy.unlink()
        if reader is not None:
            reader.hurry.set()
        proxy.terminate()
        assert proxy.wait() == 0
        said = proxy.said
    if reader is not None:
        reader.join(SOON)
    (written,) = re.findall(r"capture: .*, (\d+) packets?, ", said)
    (lost,) = re.findall(r"; lost (\d+) packets? with", said)
    assert int(lost) > 0
    assert int(written) + int(lost) >= 2 * len(answered), "each had a packet, and each response"
    capture = open_capture(file)
    exchanges = sum(1 for _ in capture.exchanges())
    assert not capture.reader.truncated
    assert 0 < exchanges < passed(said)
    found = blocks(file.read_bytes())
    assert sum(isinstance(each, Packet) for each in found) == int(written)

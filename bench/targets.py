"""What a connection is driven through: nothing, other proxies, or ours in its several ways."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from bench import machine
from tests.ports import free_port

DECODING: Final = """\
version: 1
rules:
  - name: never, but every Produce request is decoded to know it
    match: {api: Produce, direction: request}
    where: "timeout_ms == `123456`"
    do: {delay: 1ms}
"""

STARTING: Final = 20.0
"""Seconds that a proxy may take until it listens."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to get to the server."""

    name: str
    command: tuple[str, ...] = ()
    """With {listen}, {server}, {control} (ports), {folder}, {capture}, {scenario}, {toxiproxy} and
    {config} (files) to be filled in; empty for none."""
    config: str = ""
    """What stands in {config}, with the same to be filled in."""

    @property
    def missing(self) -> str | None:
        """Return the reason why this kind can't be measured here, or None."""
        if self.command and not shutil.which(self.command[0]):
            return f"{self.command[0]}: not on the path"
        return None


TOXIPROXY: Final = Kind(
    "toxiproxy",
    ("toxiproxy-server", "-host", "127.0.0.1", "-port", "{control}", "-config", "{toxiproxy}"),
)


def ours(name: str, command: Sequence[str], *options: str) -> Kind:
    """Return an installed barnabas, started by its command line."""
    return Kind(
        name,
        (
            *(*command, "proxy"),
            *("--bootstrap-server", "127.0.0.1:{server}", "--listen", "127.0.0.1:{listen}"),
            *options,
        ),
    )


BARNABAS: Final = (sys.executable, "-m", "barnabas")

CAPTURE: Final = ("--capture", "{capture}")

BETWEEN: Final = (
    Kind("direct"),
    Kind(
        "socat",
        (
            *("socat", "-b", "262144"),
            "TCP4-LISTEN:{listen},bind=127.0.0.1,fork,reuseaddr,nodelay",
            "TCP4:127.0.0.1:{server},nodelay",
        ),
    ),
    TOXIPROXY,
)

OURS: Final[dict[str, tuple[str, ...]]] = {
    "": ("--log", "off"),
    "with capture": ("--log", "off", *CAPTURE),
    "pretty log": (),
    "JSON log": ("--log", "json"),
    "JSON log and capture": ("--log", "json", *CAPTURE),
    "decoding Produce": ("--log", "off", "--scenario", "{scenario}"),
    "2 workers": ("--log", "off", "--workers", "2"),
    "2 workers, pretty log": ("--workers", "2"),
}


def kinds(beside: Path | None = None) -> list[Kind]:
    """All; `beside`: the `barnabas` of another installation, to be measured in the same run."""
    commands: dict[str, tuple[str, ...]] = {"barnabas": BARNABAS}
    if beside is not None:
        commands["beside"] = (str(beside),)
    results = [
        ours(f"{name}: {label}".removesuffix(": "), command, *options)
        for label, options in OURS.items()
        for name, command in commands.items()
    ]
    return [*BETWEEN, *results]


class Target:
    """A kind that has been started."""

    def __init__(
        self,
        kind: Kind,
        server: int,
        folder: Path,
        rules: str = DECODING,
        listen: int | None = None,
    ) -> None:
        self.kind = kind
        self.port = server
        self.capture = folder / f"{kind.name.replace(': ', '-').replace(' ', '-')}.pcapng"
        self._process: subprocess.Popen[bytes] | None = None
        if not kind.command:
            return
        scenario = folder / "scenario.yaml"
        scenario.write_text(rules)
        # a port of our choice, not the ready line: stdout is then free to go to /dev/null
        self.port, self.control = listen or free_port(), free_port()
        """Where toxiproxy is told what to do, and where halves meet."""
        toxiproxy = folder / "toxiproxy.json"
        toxiproxy.write_text(toxiproxy_config(self.port, server))
        config = self.capture.with_suffix(".conf")
        places = {
            "listen": self.port,
            "server": server,
            "control": self.control,
            "toxiproxy": toxiproxy,
            "capture": self.capture,
            "scenario": scenario,
            "folder": folder,
            "config": config,
        }
        config.write_text(kind.config.format(**places))
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed in stop()
        self._process = subprocess.Popen(
            [part.format(**places) for part in kind.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._complaints,
        )
        self._await_listening()

    def _await_listening(self) -> None:
        assert self._process is not None
        until = time.monotonic() + STARTING
        while time.monotonic() < until and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        self._complaints.seek(0)
        output = self._complaints.read().decode(errors="replace").strip()
        self.stop()
        raise RuntimeError(f"{self.kind.name} does not listen: {output or 'it said nothing'}")

    def cpu_seconds(self) -> float | None:
        """Return the CPU seconds used so far; None for direct, or if the system does not report them."""
        return None if self._process is None else machine.cpu_seconds(self._process.pid)

    def resident_kib(self) -> float | None:
        """Return the current resident memory in KiB."""
        return None if self._process is None else machine.resident_kib(self._process.pid)

    def forget(self) -> int:
        """Give the capture's space back (its writer goes on behind the hole); how much it was."""
        if not self.capture.exists():
            return 0
        size = self.capture.stat().st_blocks * 512
        os.truncate(self.capture, 0)
        return size

    def stop(self) -> None:
        """End the process that was started."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(8)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._complaints.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def toxiproxy_config(listen: int, server: int) -> str:
    """One proxy without toxics, as toxiproxy-server reads it at start."""
    proxy = {
        "name": "kafka",
        "listen": f"127.0.0.1:{listen}",
        "upstream": f"127.0.0.1:{server}",
        "enabled": True,
    }
    return json.dumps([proxy])


def capture_folder(needed: int) -> Path:
    """Return a folder for captures: in memory if there is enough room."""
    memory = Path("/dev/shm")
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > needed:
        return memory
    return Path(tempfile.gettempdir())


def available(results: Sequence[Kind]) -> tuple[Sequence[Kind], list[str]]:
    """Return the kinds that this machine has, and the reasons why it lacks the others."""
    missing = [kind.missing for kind in results if kind.missing]
    return [kind for kind in results if not kind.missing], missing

"""A proxy that runs as its users run it, and what the system says of its process."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from barnabas.control_client import Client
from tests.waiting import SOON, until


def passed(said: str) -> int:
    """How many exchanges there are in the tables that it prints at its end."""
    _, _, table = said.partition("\nAPI ")
    rows = itertools.takewhile(str.strip, table.splitlines()[1:])
    return sum(int(cells[1]) for row in rows if (cells := row.split())[1].isdigit())


def sockets_of(pid: int) -> int:
    """How many sockets a process has open."""
    count = 0
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            count += os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:")
    return count


class ProxyProcess:
    """`barnabas proxy` on a port of the system's choice, from `with` to its end.

    Its log is off unless the options say otherwise; with `data` it keeps its CA in that folder.
    """

    def __init__(
        self,
        bootstrap: str,
        *options: str,
        program: Sequence[str] = ("-m", "barnabas"),
        data: Path | None = None,
    ) -> None:
        self._command = [
            *(sys.executable, *program, "proxy", "--bootstrap-server", bootstrap),
            *("--listen", "127.0.0.1:0", "--log", "off", *options),
        ]
        self.address = ("", 0)
        self.ready: dict[str, Any] = {}
        """What its ready line says."""
        self.lines: list[str] = []
        """What it has printed since then."""
        self._environment = os.environ | ({} if data is None else {"XDG_DATA_HOME": str(data)})
        self._said = tempfile.TemporaryFile("a+")  # noqa: SIM115 - closed at the end
        self._last_said = ""

    @property
    def bootstrap(self) -> str:
        """Where clients find the cluster."""
        return f"{self.address[0]}:{self.address[1]}"

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def descriptors(self) -> int:
        """How many it has open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    @property
    def sockets(self) -> int:
        """How many of them are sockets."""
        return sockets_of(self.pid)

    @property
    def workers(self) -> list[int]:
        """Its children but the log's reader, which is behind in nice."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [int(pid) for pid in children if os.getpriority(os.PRIO_PROCESS, int(pid)) == 0]

    @property
    def control(self) -> Client:
        """A client of its control port, with --control."""
        host, _, port = self.ready["control"].rpartition(":")
        return Client((host, int(port)), self.ready["token"])

    @property
    def resident(self) -> int:
        """Bytes of memory that it has now."""
        return self._memory("VmRSS")

    @property
    def own(self) -> int:
        """Bytes of memory that it has now and shares with nobody: its log's ring is not among them."""
        return self._memory("RssAnon")

    @property
    def ca(self) -> Path:
        """The CA that its clients must trust, with `data` and --client-tls."""
        return Path(self._environment["XDG_DATA_HOME"]) / "barnabas" / "ca" / "ca.pem"

    @property
    def exchanges(self) -> list[dict[str, Any]]:
        """The exchanges of its JSON log so far."""
        return [json.loads(line) for line in list(self.lines)]

    @property
    def said(self) -> str:
        """What it printed for a person so far; after its end, all of it."""
        if self._said.closed:
            return self._last_said
        self._said.seek(0)
        return self._said.read()

    def until_said(self, words: str) -> None:
        """Wait until it has printed these words for a person."""
        until(lambda: words in self.said, words)

    def _memory(self, name: str) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) << 10
        raise ProcessLookupError(f"process {self.pid} has no memory: it has ended")

    def terminate(self) -> None:
        """Ask it to end; `wait` waits for that."""
        self._process.send_signal(signal.SIGTERM)

    def wait(self, seconds: float = SOON) -> int:
        """Its exit code, when it has ended, and all that it printed is here."""
        code = self._process.wait(seconds)
        self._reader.join(seconds)
        return code

    def _read(self) -> None:
        assert self._process.stdout is not None
        self.lines.extend(self._process.stdout)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            env=self._environment,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            raise RuntimeError(f"the proxy did not start: {self.said}")
        self.ready = json.loads(line)["ready"]
        host, port = self.ready["listen"].rsplit(":", 1)
        self.address = host, int(port)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        try:
            if self._process.poll() is None:
                self.terminate()
                code = self.wait()
                assert kind is not None or code == 0, self.said
        finally:
            self._process.kill()
            self.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._last_said = self.said
            self._said.close()
        assert "Traceback" not in self.said, self.said

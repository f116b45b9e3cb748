"""A proxy in a process of its own, and `barnabas ctl` in this one."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from tests.barnabas.cli.command import Ran, run

DEADLINE = 60.0
SCENARIO = "version: 1\nrules: [{name: first, match: {api: Fetch}, do: {delay: 1ms}}]\n"


@dataclass
class Bench:
    """A proxy that runs, and how it is controlled."""

    process: subprocess.Popen[str]
    ready: dict[str, Any]
    scenario: Path
    token_file: Path

    @property
    def where(self) -> tuple[str, ...]:
        return ("--control", self.ready["control"], "--token-file", str(self.token_file))

    def ctl(self, *words: str, stdin: str = "") -> Ran:
        return run("ctl", *self.where, *words, stdin=stdin)

    def fine(self, *words: str, stdin: str = "", remarks: str = "") -> str:
        result = self.ctl(*words, stdin=stdin)
        assert (result.returncode, result.stderr) == (0, remarks), result
        return result.stdout

    def json(self, *words: str) -> Any:
        return json.loads(self.fine("--json", *words))

    def client(self, kind: Any, client_id: str, **more: Any) -> Any:
        """A client of confluent-kafka in front of the proxy."""
        where = {"bootstrap.servers": self.ready["listen"], "log_level": 0}
        return kind({**where, "client.id": client_id, **more})

    def produced(self, client: str = "maker") -> str:
        """The error that a client of its own gets for a record; "" if none."""
        outcomes = self.produce(self.client(Producer, client, retries=0))
        return outcomes[0].name() if outcomes[0] else ""

    def produce(self, producer: Any, *, wait: bool = True) -> list[Any]:
        """Send a record; return a list that gets the error."""
        outcomes: list[Any] = []
        producer.produce(
            "orders", b"value", partition=0, on_delivery=lambda error, _: outcomes.append(error)
        )
        producer.poll(0)
        assert not wait or producer.flush(DEADLINE) == 0
        return outcomes


def stopped(process: subprocess.Popen[str]) -> str:
    """What it said on stderr up to its end, which was fine."""
    _, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    return errors

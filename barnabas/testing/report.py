"""What the report of a failed test says of its proxy."""

from __future__ import annotations

import subprocess
from typing import Final

from barnabas.plural import plural
from barnabas.testing.kafka_proxy import KafkaProxy
from barnabas.testing.not_seen import SHOWN
from barnabas.testing.process import Ended, command
from barnabas.testing.scenario import rule_line

DECODING: Final = 20.0
"""Seconds that reading the capture may take."""


def section(proxy: KafkaProxy) -> str:
    """The last exchanges as the log shows them, what the rules did, where the files are."""
    return "\n".join(
        (
            f"{proxy.bootstrap_server} in front of {proxy.cluster}",
            *_exchanges(proxy),
            *(f"rule {rule_line(row)}" for row in proxy.rule_rows()),
            *_end(proxy),
            f"capture: {proxy.capture}",
            f"every exchange as JSON: {proxy.process.out}",
        )
    )


def _exchanges(proxy: KafkaProxy) -> list[str]:
    """The capture has those too whose response is still waited for."""
    try:
        found = subprocess.run(  # noqa: S603 (ourselves)
            command("decode", str(proxy.capture)),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=DECODING,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [f"too much passed to be read in {DECODING:g} s: barnabas decode {proxy.capture}"]
    lines = found.stdout.splitlines()
    if not lines:
        return [found.stderr.strip() or "nothing passed"]
    left_out = len(lines) - SHOWN
    return [f"... {plural(left_out, 'exchange')} before these"] * (left_out > 0) + lines[-SHOWN:]


def _end(proxy: KafkaProxy) -> list[str]:
    """That it has ended, unless it was stopped."""
    try:
        proxy.process.check()
    except Ended as problem:
        return [str(problem)] if proxy.process.popen.returncode else []
    return []

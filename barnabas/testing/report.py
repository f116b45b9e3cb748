"""The section on the proxy in the report of a failed test."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from tempfile import TemporaryFile
from typing import IO, Final

from barnabas.plural import plural
from barnabas.testing.kafka_proxy import KafkaProxy
from barnabas.testing.process import LOOK, STOP, Ended, command
from barnabas.testing.scenario import rule_line
from barnabas.testing.timeout_message import SHOWN

Clock = Callable[[], float]

PATIENCE: Final = 60.0
"""Seconds without a further exchange after which reading a capture ends; a process has to start first."""


def section(proxy: KafkaProxy) -> str:
    """Return the last exchanges as in the log, the counters of rules, and the paths of files."""
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
    """Return the last exchanges of the capture, which has also those without a response yet."""
    decode = command("decode", str(proxy.capture))
    with TemporaryFile("w+", encoding="utf-8") as err, _started(decode, err) as reading:
        lines, whole = _Lines(reading), False
        try:
            whole = wait_while(lines.read, lambda: lines.count, PATIENCE, time.monotonic)
        finally:
            if not whole:
                reading.kill()
                lines.read(STOP)
        if not whole:
            return [
                f"{lines.count} of {plural(_logged(proxy), 'exchange')} read, and no more in"
                f" {PATIENCE:g} s, perhaps since the machine is busy: barnabas decode {proxy.capture}"
            ]
        err.seek(0)
        error_output = err.read().strip()
    if not lines.count:
        return [error_output or "nothing passed"]
    left_out = lines.count - len(lines.last)
    return [f"... {plural(left_out, 'exchange')} before these"] * (left_out > 0) + [*lines.last]


def wait_while(
    over: Callable[[float], bool], progress: Callable[[], int], patience: float, now: Clock
) -> bool:
    """Wait until something is over, as long as there is progress.

    Args:
        over: Waits at most so many seconds, and returns whether it is over.
        progress: Returns a counter of progress.
        patience: Seconds without progress after which the waiting ends.
        now: A clock, in seconds.

    Returns:
        Whether it is over.
    """
    done, until = progress(), now() + patience
    while not over(LOOK):
        if (count := progress()) != done:
            done, until = count, now() + patience
        elif now() > until:
            return False
    return True


class _Lines:
    """The number of lines that a process prints, and the last of them."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.count = 0
        self.last: deque[str] = deque(maxlen=SHOWN)
        self._reading = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reading.start()

    def read(self, seconds: float) -> bool:
        """Wait at most `seconds` for the end of the output; return whether it has ended."""
        self._reading.join(seconds)
        return not self._reading.is_alive()

    def _read(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.last.append(line.rstrip("\n"))
            self.count += 1


def _started(arguments: list[str], err: IO[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 (ourselves)
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=err,
        encoding="utf-8",
    )


def _logged(proxy: KafkaProxy) -> int:
    """Count the exchanges in the log, which come after its ready line."""
    with proxy.process.out.open("rb") as log:
        return max(sum(1 for _ in log) - 1, 0)


def _end(proxy: KafkaProxy) -> list[str]:
    """Return the error message of a proxy that crashed; empty: it was stopped or still runs."""
    try:
        proxy.process.check()
    except Ended as problem:
        return [str(problem)] if proxy.process.popen.returncode else []
    return []

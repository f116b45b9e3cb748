"""A JVM: a process group of its own, a log file, and the signals of faults."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from barnabas.peers import processes
from barnabas.peers.apache.errors import BootError
from barnabas.peers.apache.java import java

QUICK: Final = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # no verification of Kafka's own jars
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
    "-Djava.net.preferIPv4Stack=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)
"""Flags for a quick start and little memory; the last is for versions since 1.1 (see versions.py)."""

FLAGS: Final = ("-Xms32m", *QUICK)
"""The flags of a broker."""

STOPPING: Final = 2.0
"""Seconds to wait for a process to stop; one that waits for a child of vfork() that has stopped never
does."""

DUMPED: Final = "JNI global ref"
"""The beginning of the line after the threads of a thread dump."""

LOG4J: Final = """\
log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
"""The logging of versions before 1.1."""


def logging_flags(levels: Mapping[str, str]) -> list[str]:
    """Return the flags that set levels of slf4j-simple's loggers (since 1.1) and add times to log lines.

    >>> logging_flags({"kafka.request.logger": "DEBUG"})[0]
    '-Dorg.slf4j.simpleLogger.log.kafka.request.logger=DEBUG'
    """
    prefix = "-Dorg.slf4j.simpleLogger"
    return [
        *(f"{prefix}.log.{name}={level}" for name, level in levels.items()),
        f"{prefix}.showDateTime=true",
        f"{prefix}.dateTimeFormat=[yyyy-MM-dd HH:mm:ss,SSS]",
    ]


def command(
    jars: Sequence[Path], main: Sequence[str], *, heap: str, flags: Sequence[str] = ()
) -> list[str]:
    """Return the command line of a JVM.

    Args:
        jars: the class path.
        main: the class and its arguments.
        heap: the maximum heap, e.g. "256m".
        flags: further flags of the JVM.
    """
    path = os.pathsep.join(str(jar) for jar in jars)
    return [str(java()), *FLAGS, f"-Xmx{heap}", *flags, "-cp", path, *main]


class Jvm:
    """A JVM's process that can be started several times; its output is appended to `log`."""

    def __init__(self, name: str, line: Sequence[str], log: Path) -> None:
        self.name = name
        self.log = log
        self._line = list(line)
        self._process: subprocess.Popen[bytes] | None = None
        self._from = 0
        self.exit_code: int | None = None
        """The exit code of the last process (negative: a signal); None before the first exit."""

    @property
    def pid(self) -> int | None:
        """Return the process id; None while it does not run. A paused process runs."""
        if self._process is not None and self._process.poll() is not None:
            self._ended(self._process)
        return None if self._process is None else self._process.pid

    def run(self, patience: float) -> None:
        """Start the process and wait for its exit. Raises BootError if it fails or takes too long."""
        process = self.start()
        try:
            code = process.wait(patience)
        except subprocess.TimeoutExpired:
            self.end()
            raise self.problem(f"did not end within {patience:.0f} s") from None
        self._ended(process)
        if code:
            raise self.problem(f"ended with exit code {code}")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process group; after SIGSTOP, wait until the process has stopped.

        Raises:
            RuntimeError: The process does not run.
        """
        pid = self.pid
        if pid is None:
            raise RuntimeError(f"{self.name} is not running")
        os.killpg(pid, number)
        if number is signal.SIGSTOP:
            # threads stop at different times: on a busy machine some still respond for a while
            deadline = time.monotonic() + STOPPING
            options = os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG
            while os.waitid(os.P_PID, pid, options) is None and time.monotonic() < deadline:
                time.sleep(0.002)

    def end(self, patience: float = 0) -> None:
        """End the process by SIGTERM, and by SIGKILL after `patience` seconds; 0: by SIGKILL at once."""
        process = self._process
        if process is None or self.pid is None:
            return
        processes.end(process, patience)
        self._ended(process)

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process. Raises RuntimeError if it runs already."""
        if self.pid is not None:
            raise RuntimeError(f"{self.name} is running already")
        self._from = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self._process = processes.start(
                self._line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.log.parent
            )
        return self._process

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        processes.guard().leave(process.pid)
        self._process = None
        self.exit_code = process.returncode

    def output(self) -> str:
        """Return the output since the last start."""
        with self.log.open("rb") as log:
            log.seek(self._from)
            return log.read().decode(errors="replace")

    def threads(self, patience: float = 2.0) -> str:
        """Return the thread dump that SIGQUIT causes, as far as it is printed within `patience` seconds.

        Raises:
            RuntimeError: The process does not run.
        """
        before, until = self.log.stat().st_size, time.monotonic() + patience
        self.signal(signal.SIGQUIT)
        dump = ""
        while DUMPED not in dump and time.monotonic() < until:
            time.sleep(0.02)
            with self.log.open("rb") as log:
                log.seek(before)
                dump = log.read().decode(errors="replace")
        return dump

    def problem(self, event: str) -> BootError:
        """Return an error with what happened to the process and the end of its output."""
        output = self.output()
        return BootError(
            f"{self.name} {event}; {'its log ends' if output else 'it said nothing'}", output
        )

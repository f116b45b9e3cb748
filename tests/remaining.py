"""The end of a process whose output was read line by line before."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import IO


def remaining(process: subprocess.Popen[str], timeout: float) -> tuple[str, str]:
    """What it still writes on stdout and stderr until it ends; both are closed then.

    Popen.communicate reads beneath the buffers: it loses what readline has read beyond its line. Kills a
    process that does not end within `timeout` seconds, and raises TimeoutExpired.
    """
    with ThreadPoolExecutor(2) as readers:
        said = [readers.submit(_rest, stream) for stream in (process.stdout, process.stderr)]
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    out, errors = (one.result() for one in said)
    return out, errors


def _rest(stream: IO[str] | None) -> str:
    if stream is None:  # it is no pipe
        return ""
    with stream:
        return stream.read()

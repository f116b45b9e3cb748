"""`barnabas open`, as a process."""

from __future__ import annotations

import re
import signal
import subprocess
import sys


def test_it_prints_one_address_and_ends_when_asked() -> None:
    command = [sys.executable, "-m", "barnabas", "open", "captures/samples/faults.pcapng"]
    with subprocess.Popen([*command, "--no-browser"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=[\w-]{43}\n", line)
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == ""
    assert process.returncode == 0

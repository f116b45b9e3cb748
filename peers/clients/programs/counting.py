"""Runs a program while coverage.py counts the lines of a package, and tells those whenever it is asked:
`python counting.py PACKAGE PROGRAM ARGUMENT...`, with HOST:PORT of who asks in BARNABAS_COVERAGE.

An answer is JSON behind four bytes of its size: file -> the lines that were reached since the last one.
"""

from __future__ import annotations

import json
import os
import runpy
import socket
import sys
import threading

import coverage


def main() -> None:
    """Run it."""
    package = sys.argv[1]
    del sys.argv[:2]
    counter = coverage.Coverage(
        data_file=None, include=[f"*/site-packages/{package}/*"], config_file=False
    )
    host, port = os.environ["BARNABAS_COVERAGE"].split(":")
    asker = socket.create_connection((host, int(port)))
    threading.Thread(target=_tell, args=(counter, asker), daemon=True).start()
    counter.start()
    runpy.run_path(sys.argv[0], run_name="__main__")


def _tell(counter: coverage.Coverage, asker: socket.socket) -> None:
    known: dict[str, set[int]] = {}
    while asker.recv(1):
        data, told = counter.get_data(), {}
        for file in data.measured_files():
            before = known.setdefault(file, set())
            if new := set(data.lines(file) or ()) - before:
                before |= new
                told[file] = sorted(new)
        answer = json.dumps(told).encode()
        asker.sendall(len(answer).to_bytes(4, "big") + answer)


if __name__ == "__main__":
    main()

"""Runs a program while coverage.py counts the lines of a package, and reports them on request.

Usage: `python counting.py PACKAGE PROGRAM ARGUMENT...`, with HOST:PORT of the requester in BARNABAS_COVERAGE.
A report is four bytes of size and JSON: file -> the lines reached since the preceding report.
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
    """Run the program with counted lines."""
    package = sys.argv[1]
    del sys.argv[:2]
    counter = coverage.Coverage(
        data_file=None, include=[f"*/site-packages/{package}/*"], config_file=False
    )
    host, port = os.environ["BARNABAS_COVERAGE"].split(":")
    asker = socket.create_connection((host, int(port)))
    threading.Thread(target=_report, args=(counter, asker), daemon=True).start()
    counter.start()
    runpy.run_path(sys.argv[0], run_name="__main__")


def _report(counter: coverage.Coverage, asker: socket.socket) -> None:
    known: dict[str, set[int]] = {}
    while asker.recv(1):
        data, new_lines = counter.get_data(), {}
        for file in data.measured_files():
            before = known.setdefault(file, set())
            if new := set(data.lines(file) or ()) - before:
                before |= new
                new_lines[file] = sorted(new)
        answer = json.dumps(new_lines).encode()
        asker.sendall(len(answer).to_bytes(4, "big") + answer)


if __name__ == "__main__":
    main()

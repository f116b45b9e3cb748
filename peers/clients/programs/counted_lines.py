"""Writes coverage.py's report of a package in JSON: `python counted_lines.py PACKAGE LINES REPORT`.

LINES is JSON: file -> the lines that were reached.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import coverage


def main(package: str, lines: str, report: str) -> None:
    """Report all files of the package, reached or not."""
    counter = coverage.Coverage(data_file=None, config_file=False)
    data = counter.get_data()
    data.add_lines(json.loads(Path(lines).read_text()))
    spec = importlib.util.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(folder).rglob("*.py")):
            data.touch_file(str(file))
    counter.json_report(outfile=report)


if __name__ == "__main__":
    main(*sys.argv[1:])

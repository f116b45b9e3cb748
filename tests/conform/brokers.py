"""The tables of docs/brokers.md: `python -m tests.conform.brokers FILE... [--totals FILE...]` writes them.

Each file is the JSON of a run of `barnabas conform`, named after its broker: apache-4.3.1.json. Files that
follow --totals add one line each, without areas or checks.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from barnabas.conform.catalog import CHECKS
from tests.docs.reference.markdown import table

PAGE: Final = Path(__file__).parents[2] / "docs" / "brokers.md"
APACHE: Final = "apache-"
CATALOG: Final = {check.name: check for check in CHECKS}

Run = Mapping[str, Any]
"""The JSON of a run."""


def area_table(runs: Mapping[str, Run]) -> str:
    """Return the table of areas by broker: passed checks of those that were carried out."""
    areas = dict.fromkeys(area for run in runs.values() for area in run["areas"])
    rows = [[area, *(_cell(run["areas"].get(area)) for run in runs.values())] for area in areas]
    counts = [outcomes(run) for run in runs.values()]
    rows += [
        ["**all**", *(f"**{count['pass']}/{_carried_out(count)}**" for count in counts)],
        ["failed MUST checks", *(f"{count['must']}" for count in counts)],
        ["skipped checks", *(f"{count['skipped']}" for count in counts)],
    ]
    return table(["area", *map(title, runs)], rows)


def totals_table(runs: Mapping[str, Run]) -> str:
    """Return the table of totals by broker."""
    rows = []
    for name, run in runs.items():
        count = outcomes(run)
        rows.append([title(name), f"{count['pass']}/{_carried_out(count)}", f"{count['skipped']}"])
    return table(["broker", "passed", "skipped"], rows)


def release_table(runs: Mapping[str, Run]) -> str:
    """Return the table of the checks that a release of Apache Kafka fails, by release."""
    releases = {name: run for name, run in runs.items() if name.startswith(APACHE)}
    verdicts = {
        name: {check["name"]: check for check in run["checks"]} for name, run in releases.items()
    }
    rows = []
    for check in dict.fromkeys(name for checks in verdicts.values() for name in checks):
        verdicts_of_check = [
            checks.get(check, {"outcome": "skipped"}) for checks in verdicts.values()
        ]
        failed = [each for each in verdicts_of_check if each["outcome"] in ("fail", "error")]
        if failed:
            since = CATALOG[check].since if check in CATALOG else ""
            rows.append(
                [
                    f"`{check}`",
                    _level(failed[0]),
                    since,
                    *(each["outcome"] for each in verdicts_of_check),
                ]
            )
    return table(["check", "level", "since", *map(title, releases)], sorted(rows))


def outcomes(run: Run) -> Counter[str]:
    """Count the checks of a run by outcome; "must" counts the MUST checks that failed."""
    counts = Counter(check["outcome"] for check in run["checks"])
    counts["must"] = sum(
        check["outcome"] == "fail" and _level(check) == "MUST" for check in run["checks"]
    )
    return counts


def _level(check: Mapping[str, str]) -> str:
    """Return a check's level: that of the catalog now, or of the run if the catalog lacks the check."""
    known = CATALOG.get(check["name"])
    return known.level.name if known else check["level"].upper()


def _carried_out(counts: Counter[str]) -> int:
    return counts["pass"] + counts["fail"] + counts["error"]


def _cell(area: Mapping[str, int] | None) -> str:
    return f"{area['passed']}/{area['checks']}" if area and area["checks"] else "-"


def title(name: str) -> str:
    """Return a broker's name as it is written.

    >>> title("apache-4.3.1"), title("librdkafka-mock-2.16.1")
    ('Apache 4.3.1', "librdkafka's mock 2.16.1")
    """
    words = name.replace("librdkafka-mock", "librdkafka's mock").replace(APACHE, "Apache ", 1)
    return re.sub(r"-(?=\w+(\.|$))", " ", words)


def written(page: str, name: str, text: str) -> str:
    """Return a page with another text between the comments that name a table."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n\n{end}{after}"


def read(files: Iterable[Path]) -> dict[str, Run]:
    """Read runs, by the names of their files."""
    return {file.stem: json.loads(file.read_text()) for file in files}


def main() -> None:
    """Write the tables into the page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--totals", nargs="*", default=[], type=Path)
    given = parser.parse_args()
    runs, page = read(given.files), PAGE.read_text()
    page = written(page, "areas", area_table(runs))
    page = written(page, "releases", release_table(runs))
    page = written(page, "totals", totals_table(read(given.totals)))
    PAGE.write_text(page)


if __name__ == "__main__":
    main()

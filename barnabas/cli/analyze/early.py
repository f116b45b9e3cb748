"""What the checks of the pure core find in a little capture, said while Spark starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from barnabas.captures.capture import open_capture
from barnabas.captures.checks import CHECKS, Check
from barnabas.captures.checks.runner import run
from barnabas.cli.analyze.progress import Shown
from barnabas.cli.analyze.summary import MOST, finding_line
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.output import Output
from barnabas.endings import asking

MOST_EXCHANGES: Final = 20_000
"""Exchanges that are looked at: what is packed may come to any number."""


def tell_findings(
    files: Sequence[Path],
    tls_keys: Path | None,
    progress: Shown,
    output: Output,
    checks: Sequence[Check] = CHECKS,
    go_on: Callable[[], None] | None = None,
) -> None:
    """Print the first findings above the bar, as the summary will have them; nothing where there is none.

    go_on: called before each exchange: what it raises ends this. Raises Unreadable, CheckFailed: what
    can't be read the summary says.
    """
    if not output.err.is_terminal:
        return
    capture = open_capture(*files, keys=read_keys(tls_keys))
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    exchanges = islice(asking(capture.exchanges(strays=True), go_on), MOST_EXCHANGES)
    for check, finding in run(exchanges, checks, capture.context):
        kind = finding.severity, check.name
        counts[kind] += 1
        first.setdefault(kind, finding.what)
    for (severity, check_name), count in counts.most_common(MOST):
        said = first[severity, check_name]
        row = {"severity": severity, "check": check_name, "count": count, "first": said}
        progress.progress.console.print(finding_line(row))

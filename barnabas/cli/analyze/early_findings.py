"""The first findings in a small capture, printed while Spark starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from barnabas.captures.capture import open_capture
from barnabas.captures.checks import CHECKS, Check
from barnabas.captures.checks.runner import run
from barnabas.cli.analyze.progress import StepProgress
from barnabas.cli.analyze.summary import MOST, finding_line
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.output import Output
from barnabas.stop_signals import cancellable

MOST_EXCHANGES: Final = 20_000
"""The most exchanges that are checked: a compressed file may have any number of them."""


def tell_findings(
    files: Sequence[Path],
    tls_keys: Path | None,
    progress: StepProgress,
    output: Output,
    checks: Sequence[Check] = CHECKS,
    go_on: Callable[[], None] | None = None,
) -> None:
    """Print the first findings above the progress bar, in the format of the summary.

    Without a terminal it does nothing.

    Args:
        files: The captures.
        tls_keys: The key log of captured TLS.
        progress: The bar.
        output: The output of the command.
        checks: The checks to run.
        go_on: Called before each exchange; its exception ends the function.

    Raises:
        Unreadable: A capture is unreadable, which the summary reports.
        CheckFailed: A check raised an exception.
    """
    if not output.err.is_terminal:
        return
    capture = open_capture(*files, keys=read_keys(tls_keys))
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    exchanges = islice(cancellable(capture.exchanges(strays=True), go_on), MOST_EXCHANGES)
    for check, finding in run(exchanges, checks, capture.context):
        kind = finding.severity, check.name
        counts[kind] += 1
        first.setdefault(kind, finding.what)
    for (severity, check_name), count in counts.most_common(MOST):
        first_finding = first[severity, check_name]
        row = {"severity": severity, "check": check_name, "count": count, "first": first_finding}
        progress.progress.console.print(finding_line(row))

"""What is said while Spark starts is what `barnabas check` finds."""

from __future__ import annotations

import io
from collections import Counter

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.runner import run
from barnabas.cli.analyze.early_findings import tell_findings
from barnabas.cli.analyze.progress import step_progress
from barnabas.cli.console.output import Output
from barnabas.cli.console.terminal import Terminal
from barnabas.plural import plural
from tests.places import SAMPLES

CAPTURE = SAMPLES / "wrong.pcap"


@pytest.mark.parametrize("terminal", [True, False])
def test_findings_are_told_on_a_terminal(terminal: bool) -> None:
    err = Terminal(file=io.StringIO(), force_terminal=terminal, color_system=None, width=300)
    output = Output(err=err)
    with step_progress(output) as progress:
        tell_findings([CAPTURE], None, progress, output)
    said = err.file.getvalue()  # type: ignore[attr-defined]
    capture = open_capture(CAPTURE)
    found = run(capture.exchanges(strays=True), CHECKS, capture.context)
    counts = Counter((check.name, finding.severity) for check, finding in found)
    assert counts
    for (name, severity), count in counts.items():
        line = f"{severity:<8}{name}: {plural(count, 'finding')}, first: "
        assert (line in said) is terminal

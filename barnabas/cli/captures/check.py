"""`barnabas check`: the problems that a capture shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, Literal

from rich.text import Text

from barnabas.captures.capture import Capture
from barnabas.captures.checks.finding import LISTED, SEVERITIES, Check, Finding, Severity, frames
from barnabas.captures.checks.runner import CheckFailed, run
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import NOT_CAPTURED, ONE_DIRECTION, only_direction
from barnabas.captures.kafka.wording import printable
from barnabas.cli.captures.findings import (
    Checked,
    as_json,
    as_junit,
    as_sarif,
    exchange_text,
)
from barnabas.cli.captures.input import bar, read
from barnabas.cli.captures.remarks import remarks, unread
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.plural import plural
from barnabas.specs.dialects import Dialect
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble

Format = Literal["text", "json", "sarif", "junit"]

STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def check(
    capture: Capture,
    checks: Sequence[Check],
    *,
    form: Format = "text",
    dialect: Dialect | None = None,
) -> int:
    """Print the findings of checks in a capture; return the exit code. Raises Trouble.

    Notes alone do not make the exit code FINDINGS. dialect: The protocol of the capture; None: Kafka's.
    """
    output = Output()
    listed_findings: list[tuple[Check, Finding]] = []
    listed: Counter[str] = Counter()
    counts: Counter[Severity] = Counter()
    exchange_count = request_count = response_count = not_captured_count = 0

    def counted() -> Iterator[Exchange]:
        nonlocal exchange_count, request_count, response_count, not_captured_count
        exchanges = capture.exchanges(
            bar(output, "checking"), inferred=True, strays=True, spoken=dialect
        )
        for exchange in read(capture, exchanges, output):
            exchange_count += 1
            request_count += not exchange.inferred
            response_count += exchange.response_size is not None
            not_captured_count += NOT_CAPTURED in exchange.note
            output.look(exchange)
            if not exchange.inferred:
                yield exchange

    try:
        for finder, finding in run(counted(), checks, capture.context):
            counts[finding.severity] += 1
            listed[finder.name] += 1
            if listed[finder.name] <= LISTED:
                listed_findings.append((finder, finding))
    except CheckFailed as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None
    listed_findings.sort(key=lambda item: item[1].ts)
    left_out = {name: count - LISTED for name, count in listed.items() if count > LISTED}
    frames_unread = capture.undecoded + output.undecoded
    checked = Checked(
        capture.reader.given,
        exchange_count,
        checks,
        listed_findings,
        counts,
        left_out,
        frames_unread,
        only_direction(request_count, response_count, not_captured_count),
    )
    _print(checked, form, output)
    for remark in (*remarks(capture, dialect), *unread(frames_unread, output.too_large, dialect)):
        output.note(remark)
    if gaps := capture.conversations.losses:
        output.note(
            f"{capture.name} has {plural(gaps, 'gap')}: checks skip what depends on the missing bytes"
        )
    return FINDINGS if checked.wrong else FINE


def _print(checked: Checked, form: Format, output: Output) -> None:
    match form:
        case "json":
            output.raw(json_text(as_json(checked), indent=2))
        case "sarif":
            output.raw(json_text(as_sarif(checked), indent=2))
        case "junit":
            output.raw(as_junit(checked))
        case "text":
            for check_, finding in checked.findings:
                output.out.print(_lines(check_, finding))
    counts = checked.counts
    parts = [plural(counts[severity], severity) for severity in SEVERITIES if counts[severity]]
    for name, more in checked.left_out.items():
        parts.append(f"{plural(more, 'finding')} of {name} not listed")
    checkable = checked.exchanges and checked.only != "response"
    result = ", ".join(parts) or ("no findings" if checkable else "nothing to check")
    missing = "" if checked.only is None else f"; {ONE_DIRECTION[checked.only]}"
    output.note(f"{plural(checked.exchanges, 'exchange')}: {result}{missing}")


def _lines(check_: Check, finding: Finding) -> Text:
    time = datetime.fromtimestamp(finding.ts // 1000 / 1_000_000).strftime("%H:%M:%S.%f")[:-3]  # noqa: DTZ006 - as the log shows it
    numbers = frames(finding.evidence)
    exchanges = "; ".join(map(exchange_text, finding.evidence))
    frame = f"frames {', '.join(map(str, numbers))}: " if numbers else ""
    return Text.assemble(
        (f"{time} ", "dim"),
        (f"{finding.severity:<8}", STYLES[finding.severity]),
        (f"{check_.name}: ", "bold"),
        printable(finding.what),
        (f"\n             {frame}{printable(exchanges)}", "dim"),
        f"\n             {finding.advice}",
    )


def listing(checks: Sequence[Check]) -> None:
    """Print the checks, the versions for which they hold, and their settings."""
    output = Output()
    for check_ in checks:
        settings = ", ".join(
            f"{name} {getattr(check_.settings, name):g}"
            for name in check_.settings.__dataclass_fields__
        )
        lines = Text.assemble(
            (check_.name, "bold"), f": {check_.what}", f"\n    for {check_.holds}"
        )
        if settings:
            lines.append(f"\n    --set: {settings}")
        output.out.print(lines)

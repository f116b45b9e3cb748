"""`barnabas conform`: runs the checks, prints failures and a table of areas, writes reports."""

from __future__ import annotations

import inspect
import json
import re
import time
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path

from barnabas.captures.host_port import Endpoint
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.conform.against import compare, other_broker, starts
from barnabas.cli.conform.baseline import read_baseline
from barnabas.cli.conform.checks import ALL, own_address, run_checks
from barnabas.cli.conform.options import ConformOptions
from barnabas.cli.conform.restart import restarter
from barnabas.cli.console.output import Output
from barnabas.cli.proxy.option_conflicts import refuse_overwriting
from barnabas.cli.proxy.tls_contexts import broker_tls
from barnabas.conform.catalog import chosen
from barnabas.conform.check import Check
from barnabas.conform.comparison import Transcript
from barnabas.conform.html_report import as_html
from barnabas.conform.login import Login
from barnabas.conform.network import Network
from barnabas.conform.report import (
    Report,
    areas_of,
    as_json,
    as_junit,
    contrast_lines,
    failure_lines,
    shown_outcome,
)
from barnabas.conform.run import Suite
from barnabas.conform.traffic import Traffic
from barnabas.conform.verdicts import Level, Verdict
from barnabas.nearest import did_you_mean
from barnabas.stop_signals import interruptible
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble, os_errors


def conform(options: ConformOptions) -> int:
    """Carry out the command, and return the exit code. Raises Trouble."""
    output = Output()
    if options.target == "show":
        return _show(options.name, output)
    if options.name is not None:
        raise Trouble(f"unexpected {options.name!r}: to choose checks, give --only {options.name}")
    checks = _checks(options)
    if options.list_checks:
        return _list(checks, output)
    if options.target is None:
        raise Trouble("no broker: give HOST:PORT, or --list; see --help")
    target = own_address(options.target, options.own)
    _usable_outputs(options)
    if options.against is not None:
        starts(options.against, options.own)
    report = Report(
        options.target,
        checks,
        read_baseline(options.baseline),
        Level[options.level.upper()],
        options.against,
    )
    transcripts: dict[str, Transcript] = {}
    with ExitStack() as stack:
        suite = _suite(options, target, _traffic(options.capture, stack), transcripts)
        try:
            with interruptible():
                run_checks(suite, checks, output, partial(_add, report, output))
                if options.against is not None:
                    with other_broker(options.against, options.own) as address:
                        compare(address, suite, report, transcripts, output, owned=options.own)
        except BaseException:
            if report.verdicts:
                _finish(options, report, suite, output)
            raise
    return _finish(options, report, suite, output)


def _finish(options: ConformOptions, report: Report, suite: Suite, output: Output) -> int:
    """Write and print the results, and return the exit code."""
    _write(options, report, suite)
    return _end(report, output)


def _traffic(path: Path | None, stack: ExitStack) -> Traffic | None:
    """Return the capture of a run; the stack closes it. Raises Trouble if it can't be written."""
    if path is None:
        return None
    with os_errors(f"can't write {path}", COULD_NOT_RUN):
        writer = stack.enter_context(CaptureWriter(path, limit=None, meta={}))
    return Traffic(writer, time.time_ns)


def _suite(
    options: ConformOptions,
    target: Endpoint,
    traffic: Traffic | None,
    transcripts: dict[str, Transcript],
) -> Suite:
    """Return the run on the broker under test."""
    tls = broker_tls(options.tls)
    credentials = options.sasl.credentials()
    restart = None if options.restart is None else restarter(options.restart)

    def network(check: str) -> Network:
        part = None if traffic is None else traffic.of(check)
        transcript = transcripts[check] = Transcript()
        if options.against is None:
            return Network(target, tls, restart, part, owned=options.own)
        return Network(target, tls, restart, part, transcript.observe, owned=options.own)

    return Suite(network, options.jobs, restart, Login(credentials))


def _add(report: Report, output: Output, verdict: Verdict) -> None:
    """Add a verdict to the report, and print it unless it passed, or repeats the reason of an error."""
    repeated = verdict.outcome == "error" and any(
        earlier.outcome == "error" and earlier.reason == verdict.reason
        for earlier in report.verdicts.values()
    )
    report.add(verdict)
    if verdict.outcome in ("fail", "error") and not repeated:
        check = next(check for check in report.checks if check.name == verdict.check)
        _print(check, verdict, report, output)


def _print(check: Check, verdict: Verdict, report: Report, output: Output) -> None:
    if verdict.outcome == "error":
        output.line(f"error {check.name}: {verdict.reason}")
        return
    word = shown_outcome(report, check)
    for number, line in enumerate(failure_lines(check, verdict, report.target)):
        output.line(f"{word:<5} {line}" if number == 0 else f"      {line}")


def _end(report: Report, output: Output) -> int:
    for check, difference in report.differing:
        for line in contrast_lines(check, difference, report):
            output.line(line)
    counts = report.by_area()
    for area, checks in areas_of(report.checks).items():
        passed, total = counts.get(area, (0, 0))
        skipped = sum(report.outcome(check) == "skipped" for check in checks)
        more = f"  {skipped} skipped" if skipped else ""
        output.line(f"{area:<28} {passed:>4}/{total:<4}{more}".rstrip())
    for name in report.mended:
        output.note(f"{name} passes now: remove it from --baseline")
    output.note(
        f"{report.target}: {report.count('pass')} passed, {report.count('fail')} failed "
        f"({len(report.failures)} counted), {report.count('skipped')} skipped, "
        f"{report.count('error')} not carried out"
    )
    if report.failures:
        return FINDINGS
    if not counts:
        output.note("no check was carried out: --html and --json have the reasons")
        return COULD_NOT_RUN
    return COULD_NOT_RUN if report.count("error") else FINE


def _usable_outputs(options: ConformOptions) -> None:
    """Raise Trouble if a file of results can't be written, or has another use: a run takes a while."""
    results = {"--json": options.as_json, "--junit": options.junit, "--html": options.html}
    written = {**results, "--capture": options.capture}
    refuse_overwriting(written, {"--baseline": options.baseline})
    for path in results.values():
        if path is not None:
            with os_errors(f"can't write {path}", COULD_NOT_RUN):
                path.open("a").close()


def _write(options: ConformOptions, report: Report, suite: Suite) -> None:
    if options.as_json is not None:
        _write_text(options.as_json, json.dumps(as_json(report, suite.versions), indent=2))
    if options.junit is not None:
        _write_text(options.junit, as_junit(report))
    if options.html is not None:
        date = datetime.now().astimezone()
        _write_text(options.html, as_html(report, f"{date:%Y-%m-%d %H:%M %Z}").rstrip())


def _write_text(path: Path, text: str) -> None:
    with os_errors(f"can't write {path}", COULD_NOT_RUN):
        path.write_text(f"{text}\n", "utf-8")


def _checks(options: ConformOptions) -> list[Check]:
    patterns = [part for text in options.only for part in text.split(",") if part]
    if options.only and not patterns:
        raise Trouble("--only: no area, name or glob of checks is given")
    try:
        checks = chosen(patterns, ALL)
    except LookupError as problem:
        pattern = problem.args[0]
        names = [*areas_of(ALL), *(check.name for check in ALL)]
        hint = did_you_mean(pattern, names) or "; `barnabas conform --list` names all"
        raise Trouble(f"--only {pattern}: no such check{hint}") from None
    if options.kip is None:
        return checks
    number = options.kip.upper().removeprefix("KIP-")
    if not number.isdecimal():
        raise Trouble(f"--kip {options.kip}: expected a number, e.g. 227")
    kip = re.compile(rf"\bKIP-{number}\b")
    of_kip = [check for check in checks if any(map(kip.search, check.sources))]
    if not of_kip:
        raise Trouble(f"--kip {options.kip}: no check has this source")
    return of_kip


def _list(checks: list[Check], output: Output) -> int:
    for area, members in areas_of(checks).items():
        output.line(f"{area} ({len(members)})")
        for check in members:
            output.line(f"  {check.name:<36} {check.level.name:<6} {check.what}")
    return FINE


def _show(name: str | None, output: Output) -> int:
    if name is None:
        raise Trouble("show: give the name of a check; `barnabas conform --list` names all")
    check = next((check for check in ALL if check.name == name), None)
    if check is None:
        hint = did_you_mean(name, [check.name for check in ALL])
        raise Trouble(f"no check {name!r}{hint or '; `barnabas conform --list` names all'}")
    output.line(f"{check.name} ({check.level.name})")
    output.line(check.what)
    output.line(f"sources: {'; '.join(check.sources)}")
    needs = ", ".join(f"{api} v{oldest}+" for api, oldest in check.needs.items()) or "nothing"
    output.line(f"needs: {needs}{f'; runs on each version of {check.each}' if check.each else ''}")
    output.line("")
    output.raw(inspect.getsource(check.run).rstrip())
    return FINE

"""`barnabas conform`: runs the checks, prints failures and a table of areas, writes reports."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path

import yaml

from barnabas.addresses import parse_servers
from barnabas.cli.conform.options import ConformOptions
from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import counting_bar
from barnabas.cli.proxy.tls_contexts import broker_tls
from barnabas.conform.catalog import CHECKS, chosen
from barnabas.conform.check import Check
from barnabas.conform.login import no_login, sasl
from barnabas.conform.network import Network
from barnabas.conform.report import Report, areas_of, as_json, as_junit, failure_lines
from barnabas.conform.run import CannotRun, Suite
from barnabas.conform.served import SERVED
from barnabas.conform.verdicts import Level, Verdict
from barnabas.nearest import did_you_mean
from barnabas.peers.ownership import OPTION, is_loopback
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble, os_errors

ALL = (*CHECKS, *SERVED)
"""Every check, those of the declarations last."""


def conform(options: ConformOptions) -> int:
    """Carry out the command, and return the exit code. Raises Trouble."""
    output = Output()
    if options.target == "show":
        return _show(options.name, output)
    checks = _checks(options)
    if options.list_checks:
        return _list(checks, output)
    if options.target is None:
        raise Trouble("no broker: give HOST:PORT, or --list; see --help")
    [address] = parse_servers(options.target)[:1]
    if not options.own and not is_loopback(address[0]):
        raise Trouble(
            f"{address[0]} is not this machine, and checks write to the broker: "
            f"if you own it, give {OPTION}"
        )
    report = Report(
        options.target, checks, _baseline(options.baseline), Level[options.level.upper()]
    )
    tls = broker_tls(options.tls)
    credentials = options.sasl.credentials()
    restart = None if options.restart is None else _restarter(options.restart)

    async def run() -> Suite:
        suite = Suite(
            lambda: Network(address, tls, restart),
            options.jobs,
            restart,
            no_login if credentials is None else sasl(credentials),
        )
        await _run(suite, report, output)
        return suite

    try:
        suite = asyncio.run(run())
    except CannotRun as problem:
        raise Trouble(f"can't check the broker: {problem}", COULD_NOT_RUN) from None
    _write(options, report, suite)
    return _end(report, output)


async def _run(suite: Suite, report: Report, output: Output) -> None:
    by_name = {check.name: check for check in report.checks}
    reasons = set()
    with counting_bar(output) as progress:
        task = progress.add_task("checks", total=len(report.checks))
        async for verdict in suite.run(report.checks):
            report.add(verdict)
            progress.advance(task)
            repeated = verdict.outcome == "error" and verdict.reason in reasons
            reasons.add(verdict.reason)
            if verdict.outcome in ("fail", "error") and not repeated:
                _print(by_name[verdict.check], verdict, report, output)


def _print(check: Check, verdict: Verdict, report: Report, output: Output) -> None:
    if verdict.outcome == "error":
        output.line(f"error {check.name}: {verdict.reason}")
        return
    word = "fail" if report.counts(check) else "known" if check.name in report.baseline else "note"
    for number, line in enumerate(failure_lines(check, verdict, report.target)):
        output.line(f"{word:<5} {line}" if number == 0 else f"      {line}")


def _end(report: Report, output: Output) -> int:
    for area, (passed, total) in report.by_area().items():
        output.line(f"{area:<28} {passed:>4}/{total}")
    output.note(
        f"{report.target}: {report.count('pass')} passed, {report.count('fail')} failed "
        f"({len(report.failures)} counted), {report.count('skipped')} skipped, "
        f"{report.count('error')} not carried out"
    )
    if report.failures:
        return FINDINGS
    return COULD_NOT_RUN if report.count("error") else FINE


def _write(options: ConformOptions, report: Report, suite: Suite) -> None:
    if options.as_json is not None:
        _write_text(options.as_json, json.dumps(as_json(report, suite.versions), indent=2))
    if options.junit is not None:
        _write_text(options.junit, as_junit(report))


def _write_text(path: Path, text: str) -> None:
    with os_errors(f"can't write {path}", COULD_NOT_RUN):
        path.write_text(f"{text}\n", "utf-8")


def _checks(options: ConformOptions) -> list[Check]:
    patterns = [part for text in options.only for part in text.split(",") if part]
    try:
        checks = chosen(patterns, ALL)
    except LookupError as problem:
        pattern = problem.args[0]
        names = [*areas_of(ALL), *(check.name for check in ALL)]
        hint = did_you_mean(pattern, names) or "; `barnabas conform --list` names all"
        raise Trouble(f"--only {pattern}: no such check{hint}") from None
    if options.kip is None:
        return checks
    kip = re.compile(rf"\bKIP-{options.kip}\b")
    of_kip = [check for check in checks if any(map(kip.search, check.sources))]
    if not of_kip:
        raise Trouble(f"--kip {options.kip}: no check has this source")
    return of_kip


def _baseline(path: Path | None) -> dict[str, str]:
    """Read known failures: a mapping of names to reasons, or a list of names."""
    if path is None:
        return {}
    try:
        with os_errors(f"--baseline {path}"):
            document = yaml.safe_load(path.read_text("utf-8")) or {}
    except (UnicodeDecodeError, yaml.YAMLError):
        raise Trouble(f"--baseline {path}: not a YAML file") from None
    if isinstance(document, list):
        document = dict.fromkeys(document, "")
    if not isinstance(document, dict):
        raise Trouble(f"--baseline {path}: expected names of checks, each with a reason")
    known = {check.name for check in ALL}
    for name in document:
        if name not in known:
            raise Trouble(f"--baseline {path}: no check {name!r}{did_you_mean(str(name), known)}")
    return {str(name): str(reason or "") for name, reason in document.items()}


def _restarter(command: str) -> Callable[[], Awaitable[None]]:
    try:
        words = shlex.split(command)
    except ValueError as problem:
        raise Trouble(f"--restart: {command!r} is not a command line: {problem}") from None
    if not words:
        raise Trouble("--restart: the command is empty")

    async def restart() -> None:
        try:
            process = await asyncio.create_subprocess_exec(*words)
        except OSError as problem:
            raise CannotRun(f"--restart: {words[0]}: {problem.strerror}") from None
        if await process.wait():
            raise CannotRun(f"--restart ended with exit code {process.returncode}")

    return restart


def _list(checks: list[Check], output: Output) -> int:
    for area, members in areas_of(checks).items():
        output.line(f"{area} ({len(members)})")
        for check in members:
            output.line(f"  {check.name:<36} {check.level.name:<6} {check.what}")
    return FINE


def _show(name: str | None, output: Output) -> int:
    check = next((check for check in ALL if check.name == name), None)
    if check is None:
        hint = did_you_mean(name or "", [check.name for check in ALL])
        raise Trouble(f"no check {name!r}{hint or '; `barnabas conform --list` names all'}")
    output.line(f"{check.name} ({check.level.name})")
    output.line(check.what)
    output.line(f"sources: {'; '.join(check.sources)}")
    needs = ", ".join(f"{api} v{oldest}+" for api, oldest in check.needs.items()) or "nothing"
    output.line(f"needs: {needs}{f'; runs on each version of {check.each}' if check.each else ''}")
    output.line("")
    output.raw(inspect.getsource(check.run).rstrip())
    return FINE

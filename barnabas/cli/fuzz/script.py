"""`barnabas fuzz script`: a finding as a script that needs no barnabas."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.database import cases_of, finding_by_name, opened, target_name
from barnabas.cli.fuzz.failures import reported
from barnabas.cli.fuzz.targets import target as make_target
from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.database.findings import Finding
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.report.client_script import Session, client_script
from barnabas.fuzz.report.script import Criterion, criterion, script, server_error
from barnabas.fuzz.sessions.registry import named as session_named
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.fuzz.targets.registry import login_of
from barnabas.fuzz.targets.session_recording import SessionRecording, record_session
from barnabas.peers.clients.registry import installed_by
from barnabas.plural import plural
from barnabas.trouble import FINE, Trouble


@reported
def fuzz_script(
    name: str,
    db: Path | None,
    *,
    target: str | None = None,
    owned: bool = False,
) -> int:
    """Print a script that reproduces a finding; return the exit code. Raises Trouble.

    The script sends the case to a broker, or is the broker that sends it to a client. A case after a session
    is recorded on the target, and so are the requests of a client; other cases need no target.
    """
    output = Output()
    with opened(db) as findings:
        finding = finding_by_name(findings, name)
        named = target or target_name(findings, finding)
    cases = cases_of(finding)
    case = cases[-1]
    description = ORACLES_BY_NAME[finding.oracle].description
    title = f"{named}: {finding.what}\n({finding.oracle}: {description})"
    if case.recipe.seed.direction == "response":
        text = _of_client(title, named, owned, cases, output)
    else:
        shows = criterion(finding.oracle, finding.behaviour)
        if finding.oracle == "server_error" and _as_seen(finding):
            shows = server_error(finding.observation, finding.behaviour[1]) or shows
        text = _of_broker(title, named, owned, cases, shows, output)
    output.raw(text.rstrip("\n"))
    return FINE


def _as_seen(finding: Finding) -> bool:
    """Check that the response to the shrunk case has the same version as the observed one."""
    return finding.best.seed.version == finding.recipe.seed.version


def _of_client(title: str, named: str, owned: bool, cases: Sequence[Case], output: Output) -> str:
    output.note(f"starting {named} to record {plural(len(cases), 'session')}")
    with make_target(named, owned) as running:
        if not isinstance(running, ClientTarget):
            raise Trouble(f"{named} is not a client, but the finding is about one")
        installation = installed_by(named.removeprefix("client:"))
        title = f"{title}\nInstall the client by: {installation}" if installation else title
        return client_script(title, [Session(case, *running.recorded(case)) for case in cases])


def _of_broker(
    title: str, named: str, owned: bool, cases: Sequence[Case], shows: Criterion, output: Output
) -> str:
    case = cases[-1]
    if any(live.name == "scram_proof" for each in cases for live in each.live):
        raise Trouble("a script can't compute the SCRAM proof that this finding needs")
    session = session_named(case.recipe.session)
    login = None if session is not None and session.before_login else login_of(named)
    *earlier, recorded = _recordings(named, owned, cases, output)
    before = [*zip(cases, earlier, strict=False)]
    return script(title, case, recorded, login, shows, before)


def _recordings(
    named: str, owned: bool, cases: Sequence[Case], output: Output
) -> list[SessionRecording]:
    """Record the sessions of cases; no target is started if they have none."""
    sessions = [case.recipe.session for case in cases if case.recipe.session]
    if not sessions:
        return [SessionRecording((), case.chunks) for case in cases]
    named_sessions = ", ".join(dict.fromkeys(sessions))
    output.note(f"starting {named} to record the session {named_sessions}")
    with make_target(named, owned) as running:
        if not isinstance(running, BrokerTarget):
            raise Trouble(f"{named} is not a broker, but the finding is about one")
        # the process id names the sessions, so that scripts do not share names
        address, offered = running.service.address, running.prober.offered()
        return [
            record_session(address, offered, case, os.getpid() + index, running.credentials)
            for index, case in enumerate(cases)
        ]

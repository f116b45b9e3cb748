"""`barnabas fuzz script`: a finding for those who have no barnabas."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.database import cases_of, one, opened, target_name
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
    own: bool = False,
    output: Output | None = None,
) -> int:
    """Print a script that does a finding's case again; returns the exit code. Raises Trouble.

    For a broker it sends the case; for a client it is the broker that gives it. A case behind a session is
    recorded on the target, and so is what a client asks; any other needs none."""
    output = output or Output()
    with opened(db) as findings:
        finding = one(findings, name)
        named = target or target_name(findings, finding)
    cases = cases_of(finding)
    case = cases[-1]
    about = ORACLES_BY_NAME[finding.oracle].description
    title = f"{named}: {finding.what}\n({finding.oracle}: {about})"
    if case.recipe.seed.direction == "response":
        text = _of_client(title, named, own, cases, output)
    else:
        if len(cases) > 1:
            output.note(f"it takes {len(cases)} cases: the script sends the last alone")
        shown = criterion(finding.oracle, finding.behaviour)
        if finding.oracle == "server_error" and _as_seen(finding):
            shown = server_error(finding.observation, finding.behaviour[1]) or shown
        text = _of_broker(title, named, own, case, shown, output)
    output.raw(text.rstrip("\n"))
    return FINE


def _as_seen(finding: Finding) -> bool:
    """Whether the answer to what is sent is laid out like the one that was seen."""
    return finding.best.seed.version == finding.recipe.seed.version


def _of_client(title: str, named: str, own: bool, cases: Sequence[Case], output: Output) -> str:
    output.note(f"starting {named} to record {plural(len(cases), 'session')}")
    with make_target(named, own) as running:
        if not isinstance(running, ClientTarget):
            raise Trouble(f"{named} is no client, and the finding is of one")
        got = installed_by(named.removeprefix("client:"))
        title = f"{title}\nThe client is had by: {got}" if got else title
        return client_script(title, [Session(one, *running.recorded(one)) for one in cases])


def _of_broker(
    title: str, named: str, own: bool, case: Case, shown: Criterion, output: Output
) -> str:
    if any(live.name == "scram_proof" for live in case.live):
        raise Trouble("a script can't make the proof of SCRAM that the case of this finding needs")
    session = session_named(case.recipe.session)
    login = None if session is not None and session.before_login else login_of(named)
    return script(title, case, _steps(named, own, case, output), login, shown)


def _steps(named: str, own: bool, case: Case, output: Output) -> SessionRecording:
    if not case.recipe.session:
        return SessionRecording((), case.chunks)
    output.note(f"starting {named} to record the session {case.recipe.session}")
    with make_target(named, own) as running:
        if not isinstance(running, BrokerTarget):
            raise Trouble(f"{named} is no broker, and the finding is of one")
        # its process id: a name that no other script of today has
        number, offered = os.getpid(), running.prober.offered()
        return record_session(running.service.address, offered, case, number, running.credentials)

"""`barnabas fuzz bisect`: which releases show a finding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.database import cases_of, one, opened, target_name
from barnabas.cli.fuzz.failures import reported
from barnabas.cli.fuzz.targets import target as make_target
from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.database.findings import Finding
from barnabas.fuzz.engine.assembly import oracles_for
from barnabas.fuzz.engine.bisection import Range, bisect
from barnabas.fuzz.engine.replay import Outcome, replay
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.peers.apache.versions import RELEASES
from barnabas.specs.registry import api
from barnabas.trouble import FINDINGS, FINE, Trouble

ATTEMPTS = 3

SAID: Final[dict[Outcome, str]] = {
    "same": "shows it",
    "another": "does not show it, but something else is wrong: see fuzz replay",
    "nothing": "does not show it",
}


@reported
def fuzz_bisect(
    name: str,
    releases: Sequence[str],
    db: Path | None,
    *,
    as_json: bool = False,
    output: Output | None = None,
) -> int:
    """Run a finding's cases on releases until it is known which show it; returns the exit code.

    releases: in any order; empty: those of Apache Kafka that are tested here. Raises Trouble."""
    output = output or Output()
    with opened(db) as findings:
        finding = one(findings, name)
        named = target_name(findings, finding)
    kind, known, options = _parts(named)
    for text in releases:
        if not text[:1].isdigit():
            raise Trouble(f"{text!r} is no release, as {known} is")
    cases = cases_of(finding)
    ascending = sorted({known, *(releases or _tested(named, kind))}, key=_number)
    found = bisect(
        ascending, known, lambda one: _shows(finding, cases, f"{kind}{one}{options}", output)
    )
    if as_json:
        said = None if found is None else found._asdict()
        output.raw(json_text({"finding": finding.name, "target": named, "range": said}))
    else:
        output.line(_line(finding.name, known, ascending, found))
    return FINE if found is None else FINDINGS


def _parts(named: str) -> tuple[str, str, str]:
    """What a target is called before its release, the release, and what is behind it. Raises Trouble.

    >>> _parts("apache:3.9.1?jvm=-Xmx1g"), _parts("client:kafka-python@2.3.1")
    (('apache:', '3.9.1', '?jvm=-Xmx1g'), ('client:kafka-python@', '2.3.1', ''))
    """
    whole, asks, options = named.partition("?")
    kind, mark, release = whole.rpartition("@" if "@" in whole else ":")
    if not release[:1].isdigit() or " vs " in named or named.startswith("address:"):
        raise Trouble(f"{named} has no release to go on from, as apache:3.9.1 has")
    return kind + mark, release, asks + options


def _tested(named: str, kind: str) -> list[str]:
    if kind != "apache:":
        raise Trouble(f"{named}: say which releases: barnabas fuzz bisect FINDING 2.2.0 2.3.0 ...")
    return [release.version for release in RELEASES]


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".") if part.isdigit())


def _shows(finding: Finding, cases: Sequence[Case], target: str, output: Output) -> bool:
    """One that can't be run, or does not take the version, does not show it, and that is said."""
    seed = cases[-1].recipe.seed
    try:
        with make_target(target, own=False) as running:
            offered = running.supported_versions() if isinstance(running, BrokerTarget) else {}
            if offered and seed.version not in offered.get(seed.key, ()):
                asked = f"{api(seed.key).name} v{seed.version}"
                output.note(f"{target}: does not take {asked}: whether it shows it is not known")
                return False
            wanted = (finding.oracle, finding.behaviour)
            found = replay(running, oracles_for(running.role), cases, wanted, ATTEMPTS)
    except (CannotRun, Misuse) as problem:
        output.note(f"{target}: could not run: {problem}")
        return False
    output.note(f"{target}: {SAID[found.outcome]}")
    return found.fired


def _line(name: str, known: str, releases: Sequence[str], found: Range | None) -> str:
    if found is None:
        return f"{name} did not fire on {known} this time: there is nothing to go on from"
    before = releases.index(found.oldest) - 1
    behind = releases.index(found.newest) + 1
    ends = [releases[before] if before >= 0 else "", *releases[behind : behind + 1]]
    without = " and ".join(f"not {one}" for one in ends if one)
    one = found.oldest == found.newest
    where = f"on {found.oldest} only" if one else f"from {found.oldest} to {found.newest}"
    said = f"{name} fires {where}"
    return f"{said}{', ' + without if without else ''}; tried {', '.join(found.tried)}"

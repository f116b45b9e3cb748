"""`barnabas fuzz bisect`: the releases that show a finding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.database import cases_of, finding_by_name, opened, target_name
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
    "same": "reproduced",
    "another": "not reproduced, but something else is wrong: see fuzz replay",
    "nothing": "not reproduced",
}


@reported
def fuzz_bisect(
    name: str,
    releases: Sequence[str],
    db: Path | None,
    *,
    as_json: bool = False,
) -> int:
    """Run a finding's cases on releases until the range that shows it is known; return the exit code.

    releases: In any order; empty: the releases of Apache Kafka that barnabas tests. Raises Trouble.
    """
    output = Output()
    with opened(db) as findings:
        finding = finding_by_name(findings, name)
        named = target_name(findings, finding)
    kind, release_of_finding, options = _parts(named)
    for text in releases:
        if not text[:1].isdigit():
            raise Trouble(f"{text!r} is not a release, as {release_of_finding} is")
    cases = cases_of(finding)
    ascending = sorted({release_of_finding, *(releases or _tested(named, kind))}, key=_number)
    affected = bisect(
        ascending,
        release_of_finding,
        lambda release: _shows(finding, cases, f"{kind}{release}{options}", output),
    )
    if as_json:
        document = None if affected is None else affected._asdict()
        output.raw(json_text({"finding": finding.name, "target": named, "range": document}))
    else:
        output.line(_line(finding.name, release_of_finding, ascending, affected))
    return FINE if affected is None else FINDINGS


def _parts(named: str) -> tuple[str, str, str]:
    """Split a target's name at its release, into the text before it, the release, and the options.

    >>> _parts("apache:3.9.1?jvm=-Xmx1g"), _parts("client:kafka-python@2.3.1")
    (('apache:', '3.9.1', '?jvm=-Xmx1g'), ('client:kafka-python@', '2.3.1', ''))

    Raises Trouble.
    """
    whole, asks, options = named.partition("?")
    kind, mark, release = whole.rpartition("@" if "@" in whole else ":")
    if not release[:1].isdigit() or " vs " in named or named.startswith("address:"):
        raise Trouble(f"{named} has no release to start from, unlike e.g. apache:3.9.1")
    return kind + mark, release, asks + options


def _tested(named: str, kind: str) -> list[str]:
    if kind != "apache:":
        raise Trouble(f"{named}: name the releases: barnabas fuzz bisect FINDING 2.2.0 2.3.0 ...")
    return [release.version for release in RELEASES]


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".") if part.isdigit())


def _shows(finding: Finding, cases: Sequence[Case], target: str, output: Output) -> bool:
    """Check whether a release shows the finding.

    A release that can't run, or does not support the API version, does not; a note says so.
    """
    seed = cases[-1].recipe.seed
    try:
        with make_target(target, owned=False) as running:
            offered = running.supported_versions() if isinstance(running, BrokerTarget) else {}
            if offered and seed.version not in offered.get(seed.key, ()):
                api_version = f"{api(seed.key).name} v{seed.version}"
                output.note(f"{target}: does not support {api_version}: not tried")
                return False
            behaviour = (finding.oracle, finding.behaviour)
            replayed = replay(running, oracles_for(running.role), cases, behaviour, ATTEMPTS)
    except (CannotRun, Misuse) as problem:
        output.note(f"{target}: could not run: {problem}")
        return False
    output.note(f"{target}: {SAID[replayed.outcome]}")
    return replayed.fired


def _line(
    name: str, release_of_finding: str, releases: Sequence[str], affected: Range | None
) -> str:
    if affected is None:
        return f"{name} was not reproduced on {release_of_finding}: nothing to bisect"
    before = releases.index(affected.oldest) - 1
    after = releases.index(affected.newest) + 1
    ends = [releases[before] if before >= 0 else "", *releases[after : after + 1]]
    without = " and ".join(f"not {release}" for release in ends if release)
    single = affected.oldest == affected.newest
    span = (
        f"on {affected.oldest} only" if single else f"from {affected.oldest} to {affected.newest}"
    )
    text = f"{name} fires {span}"
    return f"{text}{', ' + without if without else ''}; tried {', '.join(affected.tried)}"

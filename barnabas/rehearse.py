"""`barnabas rehearse`: a scenario over a capture, and what its rules would do to which message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from barnabas.capture_input import opened, watched
from barnabas.output import Output
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble
from captures.conversation import Event
from captures.exchange import iso
from captures.pcapng import CaptureError
from captures.reader import CaptureReader
from captures.wording import printable
from proxy.faults import FAULTS, Fault
from proxy.rehearsal import Rehearsal, Rehearsed, Reload
from proxy.scenario import Scenario, ScenarioError, loads


def rehearse(
    scenario: Scenario | None,
    path: Path,
    *,
    as_json: bool = False,
    check: bool = False,
    faults: tuple[Fault, ...] = FAULTS,
    output: Output | None = None,
) -> int:
    """Print what the rules decide; None: the capture's own scenario, with its reloads.

    With `check` the decisions are compared with those that the capture recorded: only differences
    are printed, and they are findings. Returns the exit code. Raises Trouble.
    """
    output = output or Output()
    reader = opened(path)
    own = scenario is None
    if own:
        scenario = _own(reader, faults)
    began = reader.meta.get("began")
    rehearsal = Rehearsal(scenario, began if isinstance(began, int) else None)
    events = watched(reader, output, "rehearsing")
    different = count = 0
    try:
        for found in rehearsal.run(_with_reloads(reader, events, faults) if own else events):
            count += 1
            differs = found.decision != found.recorded
            different += differs
            if differs if check else found.decision[0]:
                output.raw(json.dumps(found.row()) if as_json else _text(found, check))
    except CaptureError as problem:
        raise Trouble(
            f"{path} is damaged: {problem}; rehearsed up to there", COULD_NOT_RUN
        ) from None
    for rule in rehearsal.rules.rules:
        output.note(f"{rule.name}: {rule.matched} matched, {rule.fired} fired, {rule.what}")
    if check:
        output.note(f"{different} of {count} messages were decided otherwise in the capture")
    return FINDINGS if check and different else FINE


def _own(reader: CaptureReader, faults: tuple[Fault, ...]) -> Scenario:
    text = reader.meta.get("scenario")
    if not isinstance(text, str):
        raise Trouble(f"{reader.paths[0]} has no scenario of its own: give one in front of it")
    return _loaded(text, reader.paths[0], faults)


def _loaded(text: str, path: Path, faults: tuple[Fault, ...]) -> Scenario:
    try:
        return loads(text, "scenario", faults)
    except ScenarioError as problem:
        raise Trouble(f"the scenario in {path}: {problem.problems[0]}") from None


def _with_reloads(
    reader: CaptureReader, events: Iterator[Event], faults: tuple[Fault, ...]
) -> Iterator[Event | Reload]:
    """The events, and between them what was loaded while the capture was written."""
    seen = 0
    for event in events:
        for note in reader.notes[seen:]:
            text = note.comment.get("scenario")
            if note.comment.get("barnabas") == "scenario" and isinstance(text, str):
                yield Reload(note.ts_ns, _loaded(text, reader.paths[0], faults))
        seen = len(reader.notes)
        yield event


def _text(found: Rehearsed, check: bool) -> str:
    seen = found.frame
    arrow = "→" if seen.direction == "request" else "←"
    version = "" if seen.version is None else f" v{seen.version}"
    line = (
        f"{iso(seen.ts)}  {seen.connection:>4} {seen.client_id or '-':<16} {arrow} "
        f"{seen.api}{version} #{seen.correlation_id}  {_words(found.decision)}"
    )
    return printable(f"{line}  (recorded: {_words(found.recorded)})" if check else line)


def _words(decision: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    rules, what = decision
    return f"{', '.join(rules)}: {', '.join(what)}" if rules else "nothing"

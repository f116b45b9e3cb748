"""`barnabas rehearse`: a scenario over a capture, and what its rules would do to which message."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from barnabas.captures.capture import Unreadable, open_capture
from barnabas.captures.kafka.columns import iso
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Event, Note
from barnabas.cli.captures.input import bar, opened, read
from barnabas.cli.captures.options import RehearseOptions
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.plugins.faults import own_faults
from barnabas.cli.scenarios.reading import read_scenario
from barnabas.plural import plural
from barnabas.proxy.faults import Fault
from barnabas.proxy.rehearsal import Rehearsal, RehearsedMessage, Reload
from barnabas.proxy.rules.outcome import outcome
from barnabas.proxy.scenario.file import Scenario, ScenarioError, loads
from barnabas.trouble import FINDINGS, FINE, Trouble

NONE: Final = "version: 1\nrules: []\n"
_UP_TO_THERE: Final = "; rehearsed up to there"


def rehearse(asked: RehearseOptions, output: Output | None = None) -> int:
    """Print what the rules of a scenario, or of the capture's own, decide.

    With `--check` the decisions are compared with those that the capture recorded: only differences
    are printed, and they are findings, unless a rule had part in it that depends on other
    connections. Returns the exit code. Raises Trouble.
    """
    output = output or Output()
    faults, check = own_faults(asked.faults), asked.check
    path, scenario = asked.files[-1], _given(asked, faults)
    keys, values = read_keys(asked.tls_keys), asked.schemas.read()
    capture = opened(path, keys=keys, context=output.context)
    reader = capture.reader
    own = scenario is None
    if scenario is None:
        scenario = _own(reader, faults)
    began = reader.meta.get("began")
    rehearsal = Rehearsal(scenario, began if isinstance(began, int) else None, values)
    read_events = read(capture, capture.events(bar(output, "rehearsing")), output, _UP_TO_THERE)
    different = allowed = count = 0
    for found in rehearsal.run(_with_notes(reader, read_events, faults, own)):
        count += 1
        differs = found.decision != found.recorded
        different += differs
        allowed += differs and bool(found.depends)
        if differs if check else found.decision[0]:
            if asked.as_json:
                output.raw(json_text(found.row()))
            else:
                output.line(_text(found, check))
    if own and rehearsal.rules.scenario is scenario and not scenario.rules:
        raise Trouble(f"{path} records no scenario: give one before it")
    for rule in map(outcome, rehearsal.rules.rules):
        output.note(f"{rule.name}: {rule.matched} matched, {rule.fired} fired, {rule.what}")
    if check:
        may = f", {allowed} of them by rules that depend on other connections" if allowed else ""
        differ = "differs" if different == 1 else "differ"
        output.note(f"{different} of {plural(count, 'decision')} {differ} from the capture{may}")
    return FINDINGS if check and different > allowed else FINE


def _given(asked: RehearseOptions, faults: tuple[Fault, ...]) -> Scenario | None:
    """Return the scenario of the command line; None: the capture's own is meant. Raises Trouble."""
    if len(asked.files) == 1:
        return None
    _refuse_other_order(asked.files[0])
    return read_scenario(asked.files[0], faults)


def _refuse_other_order(first: Path) -> None:
    """Raises Trouble if the file that is to be the scenario is a capture."""
    with contextlib.suppress(Unreadable):
        open_capture(first)
        raise Trouble(
            f"{first} is a capture: the scenario comes first, barnabas rehearse SCENARIO CAPTURE"
        )


def _own(reader: CaptureReader, faults: tuple[Fault, ...]) -> Scenario:
    """What the proxy began with: no rules, if it was told of some only later."""
    text = reader.meta.get("scenario")
    return _loaded(text if isinstance(text, str) else NONE, reader.paths[0], faults)


def _loaded(text: str, path: Path, faults: tuple[Fault, ...]) -> Scenario:
    try:
        return loads(text, "scenario", faults)
    except ScenarioError as problem:
        raise Trouble(f"the scenario in {path}: {problem.problems[0]}") from None


def _with_notes(
    reader: CaptureReader, events: Iterator[Event], faults: tuple[Fault, ...], own: bool
) -> Iterator[Event | Reload | Note]:
    """The events, and between them where the proxy listened and which names it was told; if the scenario is
    the capture's own, what was loaded and which rules were told to do something meanwhile, too."""
    seen = 0
    for event in events:
        for note in reader.notes[seen:]:
            what, text = note.comment.get("barnabas"), note.comment.get("scenario")
            if own and what == "scenario" and isinstance(text, str):
                yield Reload(note.ts_ns, _loaded(text, reader.paths[0], faults))
            elif own or what in ("listener", "topics"):
                yield note
        seen = len(reader.notes)
        yield event


def _text(found: RehearsedMessage, check: bool) -> str:
    seen = found.frame
    arrow = "→" if seen.direction == "request" else "←"
    version = "" if seen.version is None else f" v{seen.version}"
    line = (
        f"{iso(seen.ts)}  {seen.connection:>4} {seen.client_id or '-':<16} {arrow} "
        f"{seen.api}{version} #{seen.correlation_id}  {_words(found.decision)}"
    )
    if check:
        line += f"  (recorded: {_words(found.recorded)})"
        if found.depends:
            line += f"  (may differ: {', '.join(found.depends)})"
    return line


def _words(decision: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    rules, what = decision
    return f"{', '.join(rules)}: {', '.join(what)}" if rules else "nothing"

"""`barnabas rehearse`: what the rules of a scenario would do to the messages of a capture."""

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
from barnabas.cli.scenarios.scenario_files import read_scenario
from barnabas.plural import plural
from barnabas.proxy.faults import Fault
from barnabas.proxy.rehearsal import Rehearsal, RehearsedMessage, Reload
from barnabas.proxy.rules.outcome import outcome
from barnabas.proxy.scenario.file import Scenario, ScenarioError, loads
from barnabas.trouble import FINDINGS, FINE, Trouble

NONE: Final = "version: 1\nrules: []\n"
_UP_TO_THERE: Final = "; rehearsed up to there"


def rehearse(options: RehearseOptions) -> int:
    """Print the decisions of a scenario's rules, or of the capture's own; return the exit code.

    With `--check` the decisions are compared with the recorded ones. Only differences are printed, and they
    are findings unless they come from a rule that depends on other connections. Raises Trouble.
    """
    output = Output()
    faults, check = own_faults(options.faults), options.check
    path, scenario = options.files[-1], _given(options, faults)
    keys, values = read_keys(options.tls_keys), options.schemas.read()
    capture = opened(path, keys=keys, context=output.context)
    reader = capture.reader
    recorded_scenario = scenario is None
    if scenario is None:
        scenario = _own(reader, faults)
    began = reader.meta.get("began")
    rehearsal = Rehearsal(scenario, began if isinstance(began, int) else None, values)
    read_events = read(capture, capture.events(bar(output, "rehearsing")), output, _UP_TO_THERE)
    different = allowed = count = 0
    for decision in rehearsal.run(_with_notes(reader, read_events, faults, recorded_scenario)):
        count += 1
        differs = decision.decision != decision.recorded
        different += differs
        allowed += differs and bool(decision.depends)
        if differs if check else decision.decision[0]:
            if options.as_json:
                output.raw(json_text(decision.row()))
            else:
                output.line(_text(decision, check))
    if recorded_scenario and rehearsal.rules.scenario is scenario and not scenario.rules:
        raise Trouble(f"{path} records no scenario: give one, barnabas rehearse SCENARIO CAPTURE")
    for rule in map(outcome, rehearsal.rules.rules):
        output.note(f"{rule.name}: {rule.matched} matched, {rule.fired} fired, {rule.what}")
    if check:
        may = f", {allowed} of them by rules that depend on other connections" if allowed else ""
        differ = "differs" if different == 1 else "differ"
        output.note(f"{different} of {plural(count, 'decision')} {differ} from the capture{may}")
    return FINDINGS if check and different > allowed else FINE


def _given(options: RehearseOptions, faults: tuple[Fault, ...]) -> Scenario | None:
    """Return the scenario of the command line; None: the capture's own is used. Raises Trouble."""
    if len(options.files) == 1:
        return None
    _refuse_other_order(options.files[0])
    return read_scenario(options.files[0], faults)


def _refuse_other_order(first: Path) -> None:
    """Raise Trouble if the file of the scenario is a capture."""
    with contextlib.suppress(Unreadable):
        open_capture(first)
        raise Trouble(
            f"{first} is a capture: the scenario comes first, barnabas rehearse SCENARIO CAPTURE"
        )


def _own(reader: CaptureReader, faults: tuple[Fault, ...]) -> Scenario:
    """Return the proxy's first scenario; it has no rules if they were loaded later."""
    text = reader.meta.get("scenario")
    return _loaded(text if isinstance(text, str) else NONE, reader.paths[0], faults)


def _loaded(text: str, path: Path, faults: tuple[Fault, ...]) -> Scenario:
    try:
        return loads(text, "scenario", faults)
    except ScenarioError as problem:
        raise Trouble(f"the scenario in {path}: {problem.problems[0]}") from None


def _with_notes(
    reader: CaptureReader,
    events: Iterator[Event],
    faults: tuple[Fault, ...],
    recorded_scenario: bool,
) -> Iterator[Event | Reload | Note]:
    """Yield the events, and between them the capture's notes on listeners and topic names.

    recorded_scenario: Whether the scenario is the capture's; then yield its reloads and the commands to its
    rules, too.
    """
    note_count = 0
    for event in events:
        for note in reader.notes[note_count:]:
            kind, text = note.comment.get("barnabas"), note.comment.get("scenario")
            if recorded_scenario and kind == "scenario" and isinstance(text, str):
                yield Reload(note.ts_ns, _loaded(text, reader.paths[0], faults))
            elif recorded_scenario or kind in ("listener", "topics"):
                yield note
        note_count = len(reader.notes)
        yield event


def _text(decision: RehearsedMessage, check: bool) -> str:
    frame = decision.frame
    arrow = "→" if frame.direction == "request" else "←"
    version = "" if frame.version is None else f" v{frame.version}"
    line = (
        f"{iso(frame.ts)}  {frame.connection:>4} {frame.client_id or '-':<16} {arrow} "
        f"{frame.api}{version} #{frame.correlation_id}  {_words(decision.decision)}"
    )
    if check:
        line += f"  (recorded: {_words(decision.recorded)})"
        if decision.depends:
            line += f"  (may differ: {', '.join(decision.depends)})"
    return line


def _words(decision: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    rules, effects = decision
    return f"{', '.join(rules)}: {', '.join(effects)}" if rules else "nothing"

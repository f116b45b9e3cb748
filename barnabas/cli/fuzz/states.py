"""`barnabas fuzz states`: learns and judges state machines of brokers and clients."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from rich.text import Text

from barnabas.cli.console.extras import needs
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import progress_bar
from barnabas.cli.console.terminal import Terminal, plain_table
from barnabas.cli.fuzz.failures import reported
from barnabas.cli.fuzz.options import StatesOptions
from barnabas.cli.fuzz.studies import Study, studies
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.states.deviations import UNSUPPORTED, by_cause
from barnabas.fuzz.states.picture import rows, svg
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, os_errors

if TYPE_CHECKING:
    from barnabas.fuzz.states.deviations import Deviation
    from barnabas.fuzz.states.machine import Machine


@reported
def fuzz_states(options: StatesOptions) -> int:
    """Learn the state machines of one target or of two; return the exit code. Raises Trouble.

    If an alphabet can't be learned, the command reports it and tries the others.
    """
    with needs("fuzz states", "states"):
        import barnabas.fuzz.states.learner  # noqa: F401
    output = Output()
    problems = failed = 0
    with ExitStack() as stack:
        for study in studies(options.target, options.alphabets, options.owned, stack, output):
            try:
                problems += _study(study, options, output)
            except CannotRun as problem:
                failed += 1
                if options.as_json:
                    output.raw(json_text(_document(study, [], [], str(problem))))
                output.note(f"{study.alphabet.name} was not learned: {problem}")
    return FINDINGS if problems else COULD_NOT_RUN if failed else FINE


def _study(study: Study, options: StatesOptions, output: Output) -> int:
    """Learn an alphabet, print the result, and return the number of problems. Raises CannotRun."""
    machines, wrong = ([], []) if study.missing else _learned(study, options, output)
    if options.pictures is not None:
        _draw(study, machines, options.pictures)
    if options.as_json:
        output.raw(json_text(_document(study, machines, wrong)))
    elif study.missing:
        left_out = f"left out, {' and '.join(study.missing)} not offered"
        output.line(f"{study.alphabet.name}: {left_out}")
    else:
        _print(output, study, machines, wrong)
        if options.table:
            _print_tables(output, machines)
    return len(wrong)


def _draw(study: Study, machines: Sequence[Machine], folder: Path) -> None:
    """Write a picture of each machine. Raises Trouble."""
    with os_errors(f"can't write to {folder}", COULD_NOT_RUN):
        folder.mkdir(parents=True, exist_ok=True)
        for machine in machines:
            name = re.sub(r"[^\w.]+", "-", f"{study.alphabet.name} {machine.broker}")
            title = f"{study.alphabet.name} of {machine.broker}"
            picture = svg(machine, title, study.captions(machine))
            (folder / f"{name}.svg").write_text(picture, encoding="utf-8")


def _print_tables(output: Output, machines: Sequence[Machine]) -> None:
    numbers = ("state", "next")
    for machine in machines:
        output.line(f"{machine.broker}:")
        columns = ("state", "shortest path", "input", "output", "next")
        table = plain_table(*columns, numbers=numbers)
        for row in rows(machine):
            table.add_row(*(Text(str(each)) for each in row))
        Terminal().show_table(table)


def _learned(
    study: Study, options: StatesOptions, output: Output
) -> tuple[list[Machine], list[Deviation]]:
    """Return the machine of each subject, and their problems. Raises CannotRun."""
    from barnabas.fuzz.states.deviations import differences_of, still_differ
    from barnabas.fuzz.states.learner import learn

    machines, conversations = [], []
    for subject in study.subjects:
        description = f"learning {study.alphabet.name} of {subject.name}"
        with _progress(output, description) as sent:
            conversation = subject.begin(sent)
            learned = learn(
                subject.name,
                conversation,
                Random(options.seed),  # noqa: S311 - reproducible walks
                doubted=study.doubted,
                walks=options.walks or study.walks,
                length=study.length,
            )
        machines.append(learned)
        conversations.append(conversation)
    wrong = [problem for machine in machines for problem in study.judge(machine)]
    if len(machines) == 2:
        wrong += (
            problem
            for problem in differences_of(machines[0], machines[1], study.word)
            if still_differ(problem, conversations, study.word)
        )
    return machines, wrong


@contextmanager
def _progress(output: Output, description: str) -> Iterator[Callable[[], None]]:
    with progress_bar(output) as progress:
        task = progress.add_task(description, total=None, unit="requests")
        yield lambda: progress.advance(task)


def _print(
    output: Output, study: Study, machines: Sequence[Machine], wrong: Sequence[Deviation]
) -> None:
    for machine in machines:
        effort = (
            f"{machine.requests:,} requests, {len(study.alphabet.input_names)} inputs in each state"
        )
        more = "" if machine.whole else ", there are more"
        states = plural(len(machine.access), "state")
        output.line(f"{study.alphabet.name}  {machine.broker}: {states}{more} ({effort})")
    off = {name for machine in machines for name in study.switched_off(machine)}
    for name in sorted(off):
        output.line(
            f"  {name} is switched off ({UNSUPPORTED}): nothing was learned of what needs it"
        )
    for cause, problems in by_cause(wrong).items():
        output.line(f"  {cause}")
        for problem in problems:
            output.line(f"    {', '.join(problem.inputs)}")
    if not (wrong or off):
        output.line(f"  nothing wrong ({study.source})")


def _document(
    study: Study,
    machines: Sequence[Machine],
    wrong: Sequence[Deviation],
    problem: str | None = None,
) -> dict[str, object]:
    return {
        "alphabet": study.alphabet.name,
        "missing": study.missing,
        "problem": problem,
        "machines": [
            {
                "broker": machine.broker,
                "whole": machine.whole,
                "switched_off": study.switched_off(machine),
                "requests": machine.requests,
                "states": [
                    {
                        "state": number,
                        "access": access,
                        "steps": {
                            name: {"output": output, "next": following}
                            for name, (output, following) in steps.items()
                        },
                    }
                    for number, (access, steps) in enumerate(
                        zip(machine.access, machine.steps, strict=True)
                    )
                ],
            }
            for machine in machines
        ],
        "findings": [
            {
                "about": each.description,
                "cause": each.cause or each.description,
                "inputs": each.inputs,
            }
            for each in wrong
        ],
    }

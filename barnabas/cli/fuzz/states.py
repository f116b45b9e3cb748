"""`barnabas fuzz states`: state machines of brokers and clients, learned and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from random import Random
from typing import TYPE_CHECKING

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from barnabas.cli.console.extras import needs
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.failures import reported
from barnabas.cli.fuzz.options import StatesOptions
from barnabas.cli.fuzz.studied import Study, studies
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.states.deviations import UNSUPPORTED
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE

if TYPE_CHECKING:
    from barnabas.fuzz.states.deviations import Deviation
    from barnabas.fuzz.states.machine import Machine


@reported
def fuzz_states(asked: StatesOptions, output: Output | None = None) -> int:
    """Learn what the alphabets say of one target or two; returns the exit code. Raises Trouble.

    An alphabet that can't be learned is reported, and the others are tried.
    """
    with needs("fuzz states", "states"):
        import barnabas.fuzz.states.learner  # noqa: F401
    output = output or Output()
    found = failed = 0
    with ExitStack() as stack:
        for study in studies(asked.target, asked.alphabets, asked.own, stack, output):
            try:
                found += _study(study, asked, output)
            except CannotRun as problem:
                failed += 1
                if asked.as_json:
                    output.raw(json_text(_document(study, [], [], str(problem))))
                output.note(f"{study.alphabet.name} was not learned: {problem}")
    return FINDINGS if found else COULD_NOT_RUN if failed else FINE


def _study(study: Study, asked: StatesOptions, output: Output) -> int:
    """Learn an alphabet, print what it comes to, and return how much is wrong. Raises CannotRun."""
    machines, wrong = ([], []) if study.missing else _learned(study, asked, output)
    if asked.as_json:
        output.raw(json_text(_document(study, machines, wrong)))
    elif study.missing:
        left_out = f"left out, {' and '.join(study.missing)} not offered"
        output.line(f"{study.alphabet.name}: {left_out}")
    else:
        _print(output, study, machines, wrong)
    return len(wrong)


def _learned(
    study: Study, asked: StatesOptions, output: Output
) -> tuple[list[Machine], list[Deviation]]:
    """Return the machine of each subject, and what is wrong in them. Raises CannotRun."""
    from barnabas.fuzz.states.deviations import differences_of, still_differ
    from barnabas.fuzz.states.learner import learn

    machines, conversations = [], []
    for subject in study.subjects:
        about = f"learning {study.alphabet.name} of {subject.name}"
        with _shown(output, about) as sent:
            said = subject.begin(sent)
            learned = learn(
                subject.name,
                said,
                Random(asked.seed),  # noqa: S311 - it is to be the same again
                doubted=study.doubted,
                walks=asked.walks or study.walks,
                length=study.length,
            )
        machines.append(learned)
        conversations.append(said)
    wrong = [one for machine in machines for one in study.judge(machine)]
    if len(machines) == 2:
        wrong += (
            one
            for one in differences_of(machines[0], machines[1], study.word)
            if still_differ(one, conversations, study.word)
        )
    return machines, wrong


@contextmanager
def _shown(output: Output, what: str) -> Iterator[Callable[[], None]]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("{task.completed:,.0f} requests", style="dim"),
    )
    with Progress(
        *columns, console=output.err, transient=True, disable=not output.err.is_terminal
    ) as progress:
        task = progress.add_task(what, total=None)
        yield lambda: progress.advance(task)


def _print(
    output: Output, study: Study, machines: Sequence[Machine], wrong: Sequence[Deviation]
) -> None:
    for machine in machines:
        asked = (
            f"{machine.requests:,} requests, {len(study.alphabet.input_names)} inputs in each state"
        )
        more = "" if machine.whole else ", there are more"
        states = plural(len(machine.access), "state")
        output.line(f"{study.alphabet.name}  {machine.broker}: {states}{more} ({asked})")
    off = {name for machine in machines for name in study.switched_off(machine)}
    for name in sorted(off):
        output.line(
            f"  {name} is switched off ({UNSUPPORTED}): nothing was learned of what needs it"
        )
    for one in wrong:
        output.line(f"  {one.description}")
        output.line(f"    {', '.join(one.inputs)}")
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
        "findings": [{"about": one.description, "inputs": one.inputs} for one in wrong],
    }

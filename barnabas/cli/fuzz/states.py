"""`barnabas fuzz states`: a broker's state machines, learned and judged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.targets import target as make_target
from barnabas.endings import interruptible
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.states.alphabet import Alphabet
from barnabas.fuzz.states.conversation import Conversation
from barnabas.fuzz.states.judging import UNSUPPORTED, switched_off
from barnabas.fuzz.states.registry import ALPHABETS
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.registry import sides
from barnabas.nearest import choices
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble

if TYPE_CHECKING:
    from barnabas.fuzz.states.judging import Wrong
    from barnabas.fuzz.states.machine import Machine

NEEDS: Final = "fuzz states needs the package {}: pip install 'barnabas[states]'"


def fuzz_states(
    target: str,
    names: Sequence[str],
    *,
    walks: int = 20,
    seed: int = 1,
    own: bool = False,
    as_json: bool = False,
    output: Output | None = None,
) -> int:
    """Learn what the alphabets say of one broker or two; returns the exit code. Raises Trouble."""
    try:
        from barnabas.fuzz.states.judging import compared, doubts, judged, shown
        from barnabas.fuzz.states.learning import learn
    except ImportError as problem:
        raise Trouble(NEEDS.format(problem.name), COULD_NOT_RUN) from None
    output = output or Output()
    alphabets = [_alphabet(name) for name in dict.fromkeys(names)] or [*ALPHABETS]
    found = 0
    try:
        with interruptible(), ExitStack() as stack:
            running = _brokers(target, own)
            output.note(f"starting {target}")
            brokers = [stack.enter_context(one) for one in running]
            offered = _common([one.prober.offered() for one in brokers])
            run = f"barnabas-states-{time.time_ns()}"
            for whole in alphabets:
                alphabet = whole.within(offered)
                if alphabet is None:
                    missing = whole.missing(offered)
                    if as_json:
                        output.raw(json_text(_document(whole, [], [], missing)))
                    else:
                        output.line(f"{whole.name}: left out, {' and '.join(missing)} not offered")
                    continue
                machines, conversations = [], []
                for broker in brokers:
                    with _shown(output, f"learning {alphabet.name} of {broker.name}") as sent:
                        said = Conversation(broker.prober, alphabet, offered, run, sent=sent)
                        random = Random(seed)  # noqa: S311 - it is to be the same again
                        doubted = partial(doubts, alphabet)
                        learned = learn(broker.name, said, random, doubted=doubted, walks=walks)
                    machines.append(learned)
                    conversations.append(said)
                wrong = [one for machine in machines for one in judged(alphabet, machine)]
                if len(machines) == 2:
                    wrong += (one for one in compared(*machines) if shown(one, conversations))
                found += len(wrong)
                if as_json:
                    output.raw(json_text(_document(alphabet, machines, wrong)))
                else:
                    _print(output, alphabet, machines, wrong)
    except CannotRun as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None
    except KeyboardInterrupt:
        output.note("interrupted")
        return COULD_NOT_RUN
    return FINDINGS if found else FINE


def _alphabet(name: str) -> Alphabet:
    for one in ALPHABETS:
        if one.name == name:
            return one
    raise Trouble(f"{name}: no such alphabet{choices(name, [one.name for one in ALPHABETS])}")


def _brokers(target: str, own: bool) -> list[BrokerTarget]:
    named = sides(target)
    if len(named) > 2:
        raise Trouble(f"{target}: at most two brokers can be compared")
    found = []
    for one in named:
        broker = make_target(one, own)
        if not isinstance(broker, BrokerTarget):
            raise Trouble(f"{one}: states are learned of brokers, e.g. apache:4.3.1")
        found.append(broker)
    return found


def _common(offers: Iterable[dict[int, tuple[int, int]]]) -> dict[int, tuple[int, int]]:
    """The versions that all offer: both are asked the same."""
    first, *others = offers
    for other in others:
        first = {
            key: (max(low, other[key][0]), min(high, other[key][1]))
            for key, (low, high) in first.items()
            if key in other and max(low, other[key][0]) <= min(high, other[key][1])
        }
    return first


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
    output: Output, alphabet: Alphabet, machines: Sequence[Machine], wrong: Sequence[Wrong]
) -> None:
    for machine in machines:
        asked = f"{machine.requests:,} requests, {len(alphabet.inputs)} inputs in each state"
        more = "" if machine.whole else ", there are more"
        states = plural(len(machine.access), "state")
        output.line(f"{alphabet.name}  {machine.broker}: {states}{more} ({asked})")
    off = {name for machine in machines for name in switched_off(alphabet, machine)}
    for name in sorted(off):
        output.line(
            f"  {name} is switched off ({UNSUPPORTED}): nothing was learned of what needs it"
        )
    for one in wrong:
        output.line(f"  {one.about}")
        output.line(f"    {', '.join(one.inputs)}")
    if not (wrong or off):
        output.line(f"  nothing wrong ({alphabet.table.source})")


def _document(
    alphabet: Alphabet,
    machines: Sequence[Machine],
    wrong: Sequence[Wrong],
    missing: Sequence[str] = (),
) -> dict[str, object]:
    return {
        "alphabet": alphabet.name,
        "missing": missing,
        "machines": [
            {
                "broker": machine.broker,
                "whole": machine.whole,
                "switched_off": switched_off(alphabet, machine),
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
        "findings": [{"about": one.about, "inputs": one.inputs} for one in wrong],
    }

"""Runs the cells that a command line asks for, and says what came of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Final, NamedTuple

from barnabas.cli.clients.naming import DEFAULT, WORK, named_clients, named_workloads
from barnabas.cli.clients.showing import print_table
from barnabas.cli.console.counted import counted
from barnabas.cli.console.output import Output
from barnabas.cli.scenarios.reading import read_scenario
from barnabas.endings import interruptible
from barnabas.experiments.clients.brokers import APACHE, EMBEDDED, Brokers
from barnabas.experiments.clients.cell import CONTROL, Cell
from barnabas.experiments.clients.folder import Folder, FolderError
from barnabas.experiments.clients.matrix import GONE, Asked, Matrix
from barnabas.experiments.clients.table import counts, findings
from barnabas.experiments.clients.wording import said
from barnabas.experiments.explore.read_log import LogError, ends
from barnabas.experiments.library import FOLDER, names
from barnabas.nearest import did_you_mean
from barnabas.proxy.faults import FAULTS
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, INTERRUPTED, Trouble

QUICK: Final = (
    "commits-during-rebalance",
    "coordinator-moves",
    "leader-failover-storm",
    "storage-error",
    "topic-not-known-yet",
    "transaction-coordinator-moves",
)
"""The scenarios of `--quick`: they tell clients apart in short runs."""

UNUSUAL: Final = ("partitions-added",)
"""Scenarios that are run if they are named: with libraries' own settings, which ask for Metadata every 5
minutes, it would be seen late."""


EVERY: Final = 15.0
"""Seconds between lines of progress where stderr is no terminal."""


class Due:
    """Whether it is time for a line of progress, by a clock in seconds."""

    def __init__(self, now: float) -> None:
        self._last = now

    def at(self, now: float) -> bool:
        """Whether it is; then not again for EVERY seconds."""
        if now - self._last < EVERY:
            return False
        self._last = now
        return True


class Wanted(NamedTuple):
    """What the command line asked for; nothing of a kind: the usual ones, and all scenarios."""

    clients: tuple[str, ...]
    commands: tuple[str, ...]
    workloads: tuple[str, ...]
    scenarios: tuple[tuple[str, Path], ...]
    broker: str
    trials: int
    cuts: int = 0
    spark: str | None = None
    """A master's URL; "" is this machine; None: without Spark."""
    settings: Mapping[str, str] = MappingProxyType({})
    again: bool = False
    """Whether what is known is run again, and only what is named."""


def run(wanted: Wanted, out: Path, jobs: int, as_json: bool) -> int:
    """Run what is not there yet; returns the exit code. Raises Trouble."""
    asked = _asked(wanted)
    _check_broker(wanted.broker)
    output = Output()
    folder = _folder(out)
    others = {cell.broker for cell in folder.cells.values() if cell.trials} - {wanted.broker}
    if others:
        folder.close()
        raise Trouble(
            f"the cells in {out} are of {', '.join(sorted(others))}: choose another --out"
        )
    found: list[Cell] = []
    try:
        with interruptible(), Brokers(wanted.broker) as brokers, counted(output) as progress:
            matrix = Matrix(asked, brokers, folder, jobs)
            running = (
                matrix.run() if wanted.spark is None else _on_spark(wanted, asked, folder, jobs)
            )
            task = progress.add_task("", total=matrix.size)
            due = Due(monotonic())
            try:
                for cell in running:
                    found.append(cell)
                    text = f"{cell.name}: {said(cell)}"
                    progress.update(task, advance=1, total=matrix.size, description=text)
                    if not output.err.is_terminal and due.at(monotonic()):
                        output.note(f"{len(found)} of {matrix.size} cells; {text}")
                    if as_json:
                        output.raw(cell.model_dump_json())
            except KeyboardInterrupt:
                progress.stop()
                output.note(f"interrupted: the same command goes on; what is over is in {out}")
                return INTERRUPTED
    finally:
        folder.close()
    if not as_json:
        print_table(found, output)
    _sum_up(found, out, output)
    faulty = [cell for cell in found if cell.scenario != CONTROL] or found
    if all(cell.verdict.word == "not run" for cell in faulty):
        return COULD_NOT_RUN
    if any(cell.verdict.why == GONE for cell in found):
        return COULD_NOT_RUN
    return FINDINGS if findings(found) else FINE


def _on_spark(wanted: Wanted, asked: Asked, folder: Folder, jobs: int) -> Iterator[Cell]:
    from barnabas.cli.clients.spark import Shard, run_on_spark

    own = {text.partition("=")[0]: text for text in wanted.commands}
    texts = tuple((name, each.meta()["scenario"]) for name, each in asked.scenarios)
    shards = [
        Shard(
            client=own.get(client, client),
            own=client in own,
            workload=workload.name,
            scenarios=texts,
            broker=wanted.broker,
            trials=wanted.trials,
            cuts=wanted.cuts,
            jobs=jobs,
        )
        for client, _ in asked.clients
        for workload in asked.workloads
    ]
    return run_on_spark(wanted.spark or "", wanted.settings, shards, folder)


def _folder(out: Path) -> Folder:
    try:
        return Folder(out)
    except FolderError as problem:
        raise Trouble(str(problem)) from None
    except OSError as problem:
        raise Trouble(f"can't write to {out}: {problem.strerror}; choose another --out") from None


def _asked(wanted: Wanted) -> Asked:
    texts = wanted.clients or (() if wanted.commands else DEFAULT)
    clients = named_clients(texts, wanted.commands)
    chosen = named_workloads(wanted.workloads or WORK)
    usual = (name for name in names() if name not in UNUSUAL)
    named = wanted.scenarios
    if not wanted.again:
        named = named or tuple((name, Path(name)) for name in usual)
        _check_names([*(name for name, _ in clients), *(name for name, _ in named)])
        _check_files(wanted.scenarios)
    scenarios = [(name, read_scenario(file, FAULTS)) for name, file in named]
    for what, several in (
        ("--client", [name for name, _ in clients]),
        ("--workload", [one.name for one in chosen]),
        ("--scenario", [name for name, _ in scenarios]),
    ):
        for name, times in Counter(several).items():
            if times > 1:
                raise Trouble(f"{what}: {name} is given twice")
    own = _own(wanted.commands)
    return Asked(clients, chosen, scenarios, wanted.trials, wanted.cuts, own, wanted.again)


def _own(commands: Sequence[str]) -> dict[str, str]:
    """How the user's programs are started."""
    return {name: line for name, _, line in (text.partition("=") for text in commands)}


def _check_names(named: Iterable[str]) -> None:
    """They are folders beside those of the table's own. Raises Trouble."""
    for name in named:
        if (
            name in (CONTROL, "", ".", "..")
            or name.isdigit()
            or name.startswith("cut-")
            or "/" in name
        ):
            raise Trouble(f"{name!r} is a name that the table keeps for itself: choose another")


def _check_files(named: Iterable[tuple[str, Path]]) -> None:
    """They don't hide what comes with barnabas, whose cells have its name. Raises Trouble."""
    ready = names()
    for name, path in named:
        if name in ready and path.is_file() and path.resolve().parent != FOLDER.resolve():
            raise Trouble(f"{path} has the name of a scenario that comes with barnabas: rename it")


def _check_broker(text: str) -> None:
    from barnabas.addresses import parse_servers
    from barnabas.peers.apache.errors import UnknownVersionError
    from barnabas.peers.apache.versions import release

    if text == EMBEDDED:
        return
    if not text.startswith(APACHE):
        if ":" not in text or re.fullmatch(r"[^:,]+:\d+(\.\d+)+", text):  # a release is no port
            hint = did_you_mean(text.partition(":")[0], ("apache", EMBEDDED))
            raise Trouble(
                f"--broker: {text!r} is not {EMBEDDED}, {APACHE}VERSION or HOST:PORT{hint}"
            )
        parse_servers(text)
        try:
            ends(text)
        except LogError as problem:
            raise Trouble(f"--broker: {problem}", COULD_NOT_RUN) from None
        return
    try:
        release(text.removeprefix(APACHE))
    except UnknownVersionError as problem:
        raise Trouble(f"--broker: {problem}") from None


def _sum_up(found: list[Cell], out: Path, output: Output) -> None:
    said = ", ".join(f"{count} {word}" for word, count in counts(found).most_common())
    output.note(f"{said}; `barnabas clients show CELL --out {out}` says more of one")
    for why in dict.fromkeys(cell.verdict.why for cell in found if cell.verdict.word == "not run"):
        output.note(f"not run: {why}")

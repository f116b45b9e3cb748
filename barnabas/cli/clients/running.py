"""Runs the cells that a command line asks for, and says what came of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Final

from barnabas.cli.clients.naming import DEFAULT, WORK, named_clients, named_workloads
from barnabas.cli.clients.options import RunOptions
from barnabas.cli.clients.showing import print_table
from barnabas.cli.console.counted import counted
from barnabas.cli.console.output import Output
from barnabas.cli.scenarios.reading import read_scenario
from barnabas.endings import interruptible
from barnabas.experiments.clients.brokers import APACHE, EMBEDDED, Brokers
from barnabas.experiments.clients.cell import CONTROL, Cell
from barnabas.experiments.clients.folder import Folder, FolderError
from barnabas.experiments.clients.matrix import GONE, Matrix, TableRequest
from barnabas.experiments.clients.table import counts, findings
from barnabas.experiments.clients.wording import cell_text
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


def run(options: RunOptions, again: Sequence[tuple[str, Path]] | None = None) -> int:
    """Run the cells that are not there yet.

    Args:
        options: Which, and how; nothing of a kind: the usual ones, and all scenarios.
        again: Scenarios by name, for cells that are run though they are there, and no others.

    Returns:
        The exit code.

    Raises:
        Trouble: It can't be.
    """
    asked = _asked(options, again)
    _check_broker(options.broker)
    output, out = Output(), options.out
    folder = _folder(out)
    others = {cell.broker for cell in folder.cells.values() if cell.trials} - {options.broker}
    if others:
        folder.close()
        raise Trouble(
            f"the cells in {out} are of {', '.join(sorted(others))}: choose another --out"
        )
    found: list[Cell] = []
    try:
        with interruptible(), Brokers(options.broker) as brokers, counted(output) as progress:
            matrix = Matrix(asked, brokers, folder, options.jobs)
            running = _on_spark(options, asked, folder) if options.spark.spark else matrix.run()
            task = progress.add_task("", total=matrix.size)
            due = Due(monotonic())
            try:
                for cell in running:
                    found.append(cell)
                    text = f"{cell.name}: {cell_text(cell)}"
                    progress.update(task, advance=1, total=matrix.size, description=text)
                    if not output.err.is_terminal and due.at(monotonic()):
                        output.note(f"{len(found)} of {matrix.size} cells; {text}")
                    if options.as_json:
                        output.raw(cell.model_dump_json())
            except KeyboardInterrupt:
                progress.stop()
                output.note(f"interrupted: the same command goes on; what is over is in {out}")
                return INTERRUPTED
    finally:
        folder.close()
    if not options.as_json:
        print_table(found, output)
    _sum_up(found, out, output)
    faulty = [cell for cell in found if cell.scenario != CONTROL] or found
    if all(cell.verdict.word == "not run" for cell in faulty):
        return COULD_NOT_RUN
    if any(cell.verdict.why == GONE for cell in found):
        return COULD_NOT_RUN
    return FINDINGS if findings(found) else FINE


def _on_spark(options: RunOptions, asked: TableRequest, folder: Folder) -> Iterator[Cell]:
    from barnabas.cli.clients.spark import Shard, run_on_spark

    own = {text.partition("=")[0]: text for text in options.commands}
    texts = tuple((name, each.meta()["scenario"]) for name, each in asked.scenarios)
    shards = [
        Shard(
            client=own.get(client, client),
            own=client in own,
            workload=workload.name,
            scenarios=texts,
            broker=options.broker,
            trials=options.runs,
            cuts=options.cuts,
            jobs=options.jobs,
        )
        for client, _ in asked.clients
        for workload in asked.workloads
    ]
    return run_on_spark(options.spark, shards, folder)


def _folder(out: Path) -> Folder:
    try:
        return Folder(out)
    except FolderError as problem:
        raise Trouble(str(problem)) from None
    except OSError as problem:
        raise Trouble(f"can't write to {out}: {problem.strerror}; choose another --out") from None


def _asked(options: RunOptions, again: Sequence[tuple[str, Path]] | None) -> TableRequest:
    texts = options.clients or (() if options.commands else DEFAULT)
    clients = named_clients(texts, options.commands)
    chosen = named_workloads(options.workloads or WORK)
    named = _scenarios(options) if again is None else again
    if again is None:
        _check_names([*(name for name, _ in clients), *(name for name, _ in named)])
        _check_files((path.stem, path) for path in options.scenarios)
    scenarios = [(name, read_scenario(file, FAULTS)) for name, file in named]
    for what, several in (
        ("--client", [name for name, _ in clients]),
        ("--workload", [one.name for one in chosen]),
        ("--scenario", [name for name, _ in scenarios]),
    ):
        for name, times in Counter(several).items():
            if times > 1:
                raise Trouble(f"{what}: {name} is given twice")
    own = _own(options.commands)
    runs, cuts = options.runs, options.cuts
    return TableRequest(clients, chosen, scenarios, runs, cuts, own, again is not None)


def _scenarios(options: RunOptions) -> list[tuple[str, Path]]:
    """Return the scenarios that are asked for, by name."""
    usual = (Path(name) for name in names() if name not in UNUSUAL)
    quick = map(Path, QUICK if options.quick else ())
    return [(path.stem, path) for path in options.scenarios or [*quick] or usual]


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
    summary = ", ".join(f"{count} {word}" for word, count in counts(found).most_common())
    output.note(f"{summary}; `barnabas clients show CELL --out {out}` says more of one")
    for why in dict.fromkeys(cell.verdict.why for cell in found if cell.verdict.word == "not run"):
        output.note(f"not run: {why}")

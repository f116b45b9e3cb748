"""`barnabas clients run`: runs the cells of a command line and prints their results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Final

from barnabas.broker_kinds import LIBRDKAFKA
from barnabas.cli.clients.cell_output import print_differences, print_table
from barnabas.cli.clients.names import DEFAULT, WORK, named_clients, named_workloads, with_release
from barnabas.cli.clients.options import RunOptions
from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import progress_bar
from barnabas.cli.scenarios.scenario_files import read_scenario
from barnabas.experiments.clients.brokers import APACHE, Brokers
from barnabas.experiments.clients.cell import CONTROL, Cell
from barnabas.experiments.clients.comparison import differences
from barnabas.experiments.clients.cut_scenarios import CUT
from barnabas.experiments.clients.folder import Folder, FolderError
from barnabas.experiments.clients.matrix import TROUBLE, Matrix, TableRequest
from barnabas.experiments.clients.table import counts, findings
from barnabas.experiments.clients.wording import cell_text, reasons
from barnabas.experiments.clients.workloads import WORKLOADS
from barnabas.experiments.explore.read_log import LogError, ends
from barnabas.experiments.library import FOLDER, names
from barnabas.nearest import did_you_mean
from barnabas.proxy.faults import FAULTS
from barnabas.stop_signals import interruptible
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, INTERRUPTED, Trouble

QUICK: Final = (
    "commits-during-rebalance",
    "coordinator-moves",
    "flapping-network",
    "leader-failover-storm",
    "offset-not-available",
    "one-batch-refused",
    "produce-timed-out",
    "storage-error",
    "topic-not-known-yet",
    "transaction-coordinator-moves",
)
"""The scenarios of `--quick`, under which clients differ even in short runs."""

QUICK_SPREAD: Final = 2
"""The workloads of each of them."""

UNUSUAL: Final = ("partitions-added",)
"""Scenarios that run only on request.

By default libraries request Metadata every 5 minutes, so that they notice new partitions late.
"""


EVERY: Final = 15.0
"""Seconds between lines of progress if stderr is no terminal."""


class Due:
    """A timer for lines of progress, by a clock in seconds."""

    def __init__(self, now: float) -> None:
        self._last = now

    def at(self, now: float) -> bool:
        """Check whether a line is due; if so, the next one is due EVERY seconds later."""
        if now - self._last < EVERY:
            return False
        self._last = now
        return True


def run(options: RunOptions, again: Sequence[tuple[str, Path]] | None = None) -> int:
    """Run the cells that are missing in the folder.

    Args:
        options: The clients, workloads and scenarios; empty ones: the default clients and workloads, all
            scenarios.
        again: Scenarios by name, whose cells are run again, and no others.

    Returns:
        The exit code.

    Raises:
        Trouble: The options are invalid, or the folder can't be written.
    """
    plan = _asked(options, again)
    _check_broker(options.broker)
    output, out = Output(), options.out
    folder = _folder(out)
    others = {cell.broker for cell in folder.cells.values() if cell.trials} - {options.broker}
    if others:
        folder.close()
        raise Trouble(
            f"the cells in {out} were run on {', '.join(sorted(others))}: choose another --out"
        )
    cells: list[Cell] = []
    try:
        with interruptible(), Brokers(options.broker) as brokers, progress_bar(output) as progress:
            matrix = Matrix(plan, brokers, folder, options.jobs)
            running = _on_spark(options, plan, folder) if options.spark.spark else matrix.run()
            task = progress.add_task("", total=matrix.size)
            due = Due(monotonic())
            try:
                for cell in running:
                    cells.append(cell)
                    text = f"{cell.name}: {cell_text(cell)}"
                    progress.update(task, advance=1, total=matrix.size, description=text)
                    if not output.err.is_terminal and due.at(monotonic()):
                        output.note(f"{len(cells)} of {matrix.size} cells; {text}")
                    if options.as_json:
                        output.raw(cell.model_dump_json())
            except KeyboardInterrupt:
                progress.stop()
                output.note(
                    f"interrupted: finished cells are in {out}; run the same command to continue"
                )
                return INTERRUPTED
    finally:
        folder.close()
    if options.against:
        against = with_release(options.against)
        new = next(name for name, _ in plan.clients if name != against)
        differing = differences(cells, new, against)
        if not options.as_json:
            print_differences(differing, new, against, output)
        _sum_up(cells, out, output)
        new_cells = [difference.new for difference in differing if difference.new]
        sides = ([cell for cell in cells if cell.client == name] for name in (new, against))
        unrun = COULD_NOT_RUN if COULD_NOT_RUN in map(exit_code, sides) else FINE
        return (exit_code(new_cells) if new_cells else FINE) or unrun
    if not options.as_json:
        print_table(cells, output)
    _sum_up(cells, out, output)
    return exit_code(cells)


def exit_code(cells: Sequence[Cell]) -> int:
    """Return the exit code of a run: FINDINGS before COULD_NOT_RUN, so that no broken promise is hidden.

    A client that loses records without faults leaves no other cell that could run.
    """
    if findings(cells):
        return FINDINGS
    faulty = [cell for cell in cells if cell.scenario != CONTROL] or cells
    if all(cell.verdict.word == "not run" for cell in faulty):
        return COULD_NOT_RUN
    return COULD_NOT_RUN if any(cell.verdict.why.startswith(TROUBLE) for cell in cells) else FINE


def _on_spark(options: RunOptions, plan: TableRequest, folder: Folder) -> Iterator[Cell]:
    from barnabas.cli.clients.spark import Shard, run_on_spark

    commands = {text.partition("=")[0]: text for text in options.commands}
    texts = tuple((name, each.meta()["scenario"]) for name, each in plan.scenarios)
    shards = [
        Shard(
            client=commands.get(client, client),
            is_program=client in commands,
            workload=workload.name,
            scenarios=texts,
            broker=options.broker,
            trials=options.runs,
            cuts=options.cuts,
            jobs=options.jobs,
            plain=options.plain,
        )
        for client, _ in plan.clients
        for workload in plan.workloads
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
    clients = named_clients([*texts, *filter(None, [options.against])], options.commands)
    short = [workload.name for workload in WORKLOADS if not workload.seconds]
    chosen = named_workloads(options.workloads or (short if options.quick else WORK))
    quick_spread = QUICK_SPREAD if options.quick and not options.spark.spark else None
    named = _scenarios(options) if again is None else again
    if again is None:
        _check_names([*(name for name, _ in clients), *(name for name, _ in named)])
        _check_files((path.stem, path) for path in options.scenarios)
    scenarios = [(name, read_scenario(file, FAULTS)) for name, file in named]
    for option, names_given in (
        ("--client", [name for name, _ in clients]),
        ("--workload", [workload.name for workload in chosen]),
        ("--scenario", [name for name, _ in scenarios]),
    ):
        for name, times in Counter(names_given).items():
            if times > 1:
                raise Trouble(f"{option}: {name} is given twice")
    commands = _own(options.commands)
    return TableRequest(
        clients,
        chosen,
        scenarios,
        options.runs,
        options.cuts,
        commands,
        again=again is not None,
        drawn=not options.plain,
        spread=options.spread or quick_spread,
    )


def _scenarios(options: RunOptions) -> list[tuple[str, Path]]:
    """Return the selected scenarios by name."""
    default = (Path(name) for name in names() if name not in UNUSUAL)
    quick = map(Path, QUICK if options.quick else ())
    return [(path.stem, path) for path in options.scenarios or [*quick] or default]


def _own(commands: Sequence[str]) -> dict[str, str]:
    """Return the command lines of the user's programs by name."""
    return {name: line for name, _, line in (text.partition("=") for text in commands)}


def _check_names(named: Iterable[str]) -> None:
    """Raise Trouble for a name that is reserved in the folder of cells."""
    for name in named:
        if (
            name in (CONTROL, "", ".", "..")
            or name.isdigit()
            or name.startswith(CUT)
            or "/" in name
        ):
            raise Trouble(f"{name!r} is a reserved name: choose another")


def _check_files(named: Iterable[tuple[str, Path]]) -> None:
    """Raise Trouble for a file with the name of a ready scenario, since cells are named after scenarios."""
    ready = names()
    for name, path in named:
        if name in ready and path.is_file() and path.resolve().parent != FOLDER.resolve():
            raise Trouble(f"{path} has the name of a built-in scenario: rename it")


def _check_broker(text: str) -> None:
    from barnabas.addresses import parse_servers
    from barnabas.peers.apache.errors import UnknownVersionError
    from barnabas.peers.apache.versions import release

    if text == LIBRDKAFKA:
        return
    if text == "embedded":
        raise Trouble(f"--broker: embedded is now {LIBRDKAFKA}")
    if not text.startswith(APACHE):
        if ":" not in text or re.fullmatch(r"[^:,]+:\d+(\.\d+)+", text):  # a release is no port
            hint = did_you_mean(text.partition(":")[0], ("apache", LIBRDKAFKA))
            raise Trouble(
                f"--broker: {text!r} is not {LIBRDKAFKA}, {APACHE}VERSION or HOST:PORT{hint}"
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


def _sum_up(cells: list[Cell], out: Path, output: Output) -> None:
    for line in summary(cells, out):
        output.note(line)


def summary(cells: Sequence[Cell], out: Path) -> Iterator[str]:
    """Yield the lines after the table: broken promises without any fault, counts, reasons of unrun cells."""
    for cell in findings(cells):
        if cell.scenario == CONTROL:
            yield f"{cell.name}: {cell_text(cell)}: {'; '.join(reasons(cell.verdict))}"
    totals = ", ".join(f"{count} {word}" for word, count in counts(cells).most_common())
    yield f"{totals}; `barnabas clients show CELL --out {out}` shows one cell"
    unrun = (cell.verdict.why for cell in cells if cell.verdict.word == "not run")
    for reason in dict.fromkeys(unrun):
        yield f"not run: {reason}"

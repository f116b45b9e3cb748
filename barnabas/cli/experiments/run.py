"""The commands of `barnabas experiment`: list, run and write."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import tempfile
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.console.terminal import Terminal
from barnabas.experiments.experiment import Bench, Between, Experiment
from barnabas.experiments.registry import experiment, names
from barnabas.location import ROOT
from barnabas.peers.apache import BootError, UnavailableError
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.plugins import usable
from barnabas.testing.kafka_proxy import start_proxy
from barnabas.testing.process import Ended
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble
from barnabas.version import version

FORMAT = 1
"""Of the JSON files."""

BUSY = "the machine had other work when this began: figures of time are no result"

LIMIT = 64 << 20
"""Bytes of such a file that are read at most."""


def listing(*, as_json: bool = False) -> None:
    """Print the experiments: a table, or a line of JSON each.

    Raises Trouble after the last one if a package adds an unusable experiment.
    """
    found, reasons = usable(names(), experiment)
    if as_json:
        for name, one in found.items():
            print(json_text({"name": name, "question": one.question, "versions": one.versions}))
    else:
        _table(found)
    if reasons:
        raise Trouble("; ".join(reasons.values()))


def _table(found: dict[str, Experiment]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("name", no_wrap=True)
    table.add_column("question")
    table.add_column("Kafka")
    for name, one in found.items():
        table.add_row(name, one.question, ", ".join(one.versions) or "built-in peers")
    Terminal().show_table(table)


def run(name: str, out: Path, *, short: bool) -> int:
    """Run an experiment and write its files; return 1 if the machine was too busy. Raises Trouble."""
    found = _known(name)
    output = Output()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise Trouble(f"--out {out}: {problem.strerror}") from None
    begun, load = datetime.now(UTC), os.getloadavg()[0]
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with (
        tempfile.TemporaryDirectory(prefix="barnabas-", ignore_cleanup_errors=True) as folder,
        Progress(
            *columns, console=output.err, transient=True, disable=not output.err.is_terminal
        ) as progress,
    ):
        task = progress.add_task("starting brokers", total=1)

        def step(done: int, total: int, what: str) -> None:
            progress.update(task, completed=done, total=total, description=what)

        try:
            measured = found.run(Bench(_proxy, Path(folder), short, step))
        except (UnavailableError, UnavailableClientError, BootError, Ended, OSError) as problem:
            raise Trouble(f"{name}: {problem}", COULD_NOT_RUN) from None
    document = {
        "format": FORMAT,
        "experiment": name,
        "date": begun.date().isoformat(),
        "minutes": round((datetime.now(UTC) - begun).total_seconds() / 60, 1),
        "short": short,
        "versions": {"barnabas": version(), "commit": commit(), "kafka": found.versions},
        "machine": {
            "cores": os.cpu_count(),
            "load": [round(one, 1) for one in (load, os.getloadavg()[0])],
            "nice": os.getpriority(os.PRIO_PROCESS, 0),
            "python": platform.python_version(),
        },
        "measured": measured,
    }
    (out / f"{name}.json").write_text(_lines(document, 3) + "\n")
    (out / f"{name}.md").write_text(text(found, document))
    for file, plot in plots(found, document).items():
        (out / file).write_text(plot)
    output.out.print(f"{out / name}.md")
    if busy(document):
        output.note(f"{name}: {BUSY}")
        return FINDINGS
    return FINE


def commit() -> str | None:
    """Return a checkout's commit, with a + for changed files; None without a checkout or git.

    >>> commit() != ""
    True
    """
    asked = ("rev-parse", "--short=8", "HEAD"), ("status", "--porcelain", "--untracked-files=no")
    try:
        hash_, changed = (
            subprocess.check_output(["git", *line], cwd=ROOT, stderr=subprocess.DEVNULL, text=True)  # noqa: S603, S607
            for line in asked
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return hash_.strip() + "+" * bool(changed)


def busy(document: dict[str, Any]) -> bool:
    """Check whether the machine had more work than cores when a measurement began.

    >>> busy({"machine": {"cores": 2, "load": [2.6, 9.9]}, "short": False})
    True
    """
    machine = document["machine"]
    return not document["short"] and machine["load"][0] > machine["cores"]


def written(file: Path) -> str:
    """Return the Markdown of a NAME.json. Raises Trouble."""
    try:
        with file.open("rb") as opened:
            text_of_it = opened.read(LIMIT + 1)
        if len(text_of_it) > LIMIT:
            raise Trouble(
                f"{file} is not the result of an experiment (more than {LIMIT >> 20} MiB)"
            )
        document = json.loads(text_of_it)
        found = _known(document["experiment"])
        if document["format"] != FORMAT:
            raise Trouble(
                f"{file}: format {document['format']} is not supported (expected {FORMAT})"
            )
        return text(found, document)
    except OSError as problem:
        raise Trouble(f"{file}: {problem.strerror}") from None
    except (ValueError, KeyError, TypeError, IndexError) as problem:
        why = type(problem).__name__ if isinstance(problem, UnicodeError) else repr(problem)
        raise Trouble(f"{file} is not the result of an experiment ({why})") from None


def plots(found: Experiment, document: dict[str, Any]) -> dict[str, str]:
    """Return the plots of a result: SVG by the file's name."""
    made = found.plots(document["measured"])
    return {f"{document['experiment']}-{name}.svg": plot for name, plot in made.items()}


def text(found: Experiment, document: dict[str, Any]) -> str:
    """Write a whole result: the question, when and where it was measured, and the answer."""
    machine = document["machine"]
    shown = "".join(
        f"\n![{file.removesuffix('.svg')}]({file})\n" for file in plots(found, document)
    )
    level = machine.get("nice", 0)  # results of before do not say
    nice = f", at nice level {level}" if level else ""
    few = " A short run: a smoke test, no basis for conclusions." if document["short"] else ""
    warning = f"**{BUSY.capitalize()}.**\n\n" if busy(document) else ""
    versions = document.get("versions", {})  # nor these
    ours = f" by barnabas {versions['barnabas']}" if versions else ""
    if versions.get("commit"):
        ours += f" ({versions['commit']})"
    return (
        f"# {document['experiment']}\n\n**{found.question}**\n\n{warning}"
        f"Measured{ours} on {document['date']} in {document['minutes']} minutes, on {machine['cores']} "
        f"cores with Python {machine['python']}{nice}; load when it began and ended: {machine['load'][0]} "
        f"and {machine['load'][1]} (of that minute). The figures are in {document['experiment']}.json; "
        f"this text is made of them.{few}\n\n{found.write(document['measured'])}{shown}"
    )


def _known(name: str) -> Experiment:
    try:
        return experiment(name)
    except LookupError as problem:
        raise Trouble(f"{problem}; see `barnabas experiment list`") from None


def _lines(value: Any, levels: int) -> str:
    """Write JSON with line breaks in the outer levels only: a run is a line.

    >>> print(_lines({"runs": [{"a": 1}, {"a": [2, 3]}]}, 2))
    {"runs": [
    {"a": 1},
    {"a": [2, 3]}
    ]}
    """
    if not levels or not value or not isinstance(value, dict | list):
        return json.dumps(value)
    if isinstance(value, dict):
        parts = (f"{json.dumps(key)}: {_lines(one, levels - 1)}" for key, one in value.items())
        return "{" + ",\n".join(parts) + "}"
    return "[\n" + ",\n".join(_lines(one, levels - 1) for one in value) + "\n]"


def _proxy(bootstrap: str, scenario: str, folder: Path) -> AbstractContextManager[Between]:
    return start_proxy(bootstrap, folder, scenario=scenario)

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

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import progress_bar
from barnabas.cli.console.terminal import Terminal, plain_table
from barnabas.experiments.experiment import Bench, Between, Experiment
from barnabas.experiments.registry import experiment, names
from barnabas.location import ROOT
from barnabas.peers.apache import BootError, UnavailableError
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.plugins import usable
from barnabas.testing.kafka_proxy import start_proxy
from barnabas.testing.process import Ended
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble, os_errors
from barnabas.version import version

FORMAT = 1
"""The version of the JSON files."""

BUSY = "the machine was busy at the start: timings are unreliable"

LIMIT = 64 << 20
"""The most bytes of a JSON file."""


def listing(*, as_json: bool = False) -> None:
    """Print the experiments: a table, or a line of JSON each.

    Raises Trouble after the last one if a package adds an unusable experiment.
    """
    experiments, reasons = usable(names(), experiment)
    if as_json:
        for name, each in experiments.items():
            print(json_text({"name": name, "question": each.question, "versions": each.versions}))
    else:
        _table(experiments)
    if reasons:
        raise Trouble("; ".join(reasons.values()))


def _table(experiments: dict[str, Experiment]) -> None:
    table = plain_table("name", "question", "Kafka", unbroken=("name",))
    table.padding = (0, 2, 0, 0)
    for name, each in experiments.items():
        table.add_row(name, each.question, ", ".join(each.versions) or "built-in peers")
    Terminal().show_table(table)


def run(name: str, out: Path, *, short: bool) -> int:
    """Run an experiment and write its files; return 1 if the machine was too busy. Raises Trouble."""
    chosen = _known(name)
    output = Output()
    with os_errors(f"--out {out}"):
        out.mkdir(parents=True, exist_ok=True)
    begun, load = datetime.now(UTC), os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory(prefix="barnabas-", ignore_cleanup_errors=True) as folder,
        progress_bar(output) as progress,
    ):
        task = progress.add_task("starting brokers", total=1)

        def step(done: int, total: int, description: str) -> None:
            progress.update(task, completed=done, total=total, description=description)

        try:
            measured = chosen.run(Bench(_proxy, Path(folder), short, step))
        except (UnavailableError, UnavailableClientError, BootError, Ended, OSError) as problem:
            raise Trouble(f"{name}: {problem}", COULD_NOT_RUN) from None
    document = {
        "format": FORMAT,
        "experiment": name,
        "date": begun.date().isoformat(),
        "minutes": round((datetime.now(UTC) - begun).total_seconds() / 60, 1),
        "short": short,
        "versions": {"barnabas": version(), "commit": commit(), "kafka": chosen.versions},
        "machine": {
            "cores": os.cpu_count(),
            "load": [round(average, 1) for average in (load, os.getloadavg()[0])],
            "nice": os.getpriority(os.PRIO_PROCESS, 0),
            "python": platform.python_version(),
        },
        "measured": measured,
    }
    (out / f"{name}.json").write_text(_lines(document, 3) + "\n")
    (out / f"{name}.md").write_text(text(chosen, document))
    for file, plot in plots(chosen, document).items():
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
    options = ("rev-parse", "--short=8", "HEAD"), ("status", "--porcelain", "--untracked-files=no")
    try:
        hash_, changed = (
            subprocess.check_output(["git", *line], cwd=ROOT, stderr=subprocess.DEVNULL, text=True)  # noqa: S603, S607
            for line in options
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return hash_.strip() + "+" * bool(changed)


def busy(document: dict[str, Any]) -> bool:
    """Check whether the load exceeded the cores when a measurement began.

    >>> busy({"machine": {"cores": 2, "load": [2.6, 9.9]}, "short": False})
    True
    """
    machine = document["machine"]
    return not document["short"] and machine["load"][0] > machine["cores"]


def written(file: Path) -> str:
    """Return the Markdown of a NAME.json. Raises Trouble."""
    with os_errors(str(file)), file.open("rb") as opened:
        text_of_it = opened.read(LIMIT + 1)
    try:
        if len(text_of_it) > LIMIT:
            raise Trouble(
                f"{file} is not the result of an experiment (more than {LIMIT >> 20} MiB)"
            )
        document = json.loads(text_of_it)
        measured = _known(document["experiment"])
        if document["format"] != FORMAT:
            raise Trouble(
                f"{file}: format {document['format']} is not supported (expected {FORMAT})"
            )
        return text(measured, document)
    except (ValueError, KeyError, TypeError, IndexError) as problem:
        reason = type(problem).__name__ if isinstance(problem, UnicodeError) else repr(problem)
        raise Trouble(f"{file} is not the result of an experiment ({reason})") from None


def plots(measured: Experiment, document: dict[str, Any]) -> dict[str, str]:
    """Return the plots of a result: SVG by the file's name."""
    drawings = measured.plots(document["measured"])
    return {f"{document['experiment']}-{name}.svg": plot for name, plot in drawings.items()}


def text(measured: Experiment, document: dict[str, Any]) -> str:
    """Write a whole result: the question, when and where it was measured, and the answer."""
    machine = document["machine"]
    images = "".join(
        f"\n![{file.removesuffix('.svg')}]({file})\n" for file in plots(measured, document)
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
        f"# {document['experiment']}\n\n**{measured.question}**\n\n{warning}"
        f"Measured{ours} on {document['date']} in {document['minutes']} minutes, on {machine['cores']} "
        f"cores with Python {machine['python']}{nice}; load when it began and ended: {machine['load'][0]} "
        f"and {machine['load'][1]} (of that minute). The figures are in {document['experiment']}.json; "
        f"this text is made of them.{few}\n\n{measured.write(document['measured'])}{images}"
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
        parts = (f"{json.dumps(key)}: {_lines(item, levels - 1)}" for key, item in value.items())
        return "{" + ",\n".join(parts) + "}"
    return "[\n" + ",\n".join(_lines(item, levels - 1) for item in value) + "\n]"


def _proxy(bootstrap: str, scenario: str, folder: Path) -> AbstractContextManager[Between]:
    return start_proxy(bootstrap, folder, scenario=scenario)

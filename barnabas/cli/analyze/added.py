"""`barnabas analyze --from-batch`: only what batches of a folder that is followed have added."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from barnabas.cli.analyze.analyze import (
    PACKAGES,
    analyses,
    check,
    installed,
    printed,
    session_of,
    taken,
    watching,
)
from barnabas.cli.analyze.options import AnalyzeOptions, TableFormat
from barnabas.cli.analyze.progress import shown
from barnabas.cli.analyze.summary import next_line
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.endings import interruptible
from barnabas.pipeline.tables.folders import partitions
from barnabas.trouble import COULD_NOT_RUN, FINE, INTERRUPTED, Trouble


def analyze_added(asked: AnalyzeOptions, first: int, output: Output | None = None) -> int:
    """Tables, analyses and a report of batches from this one on, in a new folder, and which comes next.

    asked: of which the captures are a folder of tables. Returns the exit code, as `analyze`. Raises Trouble.
    """
    output = output or Output()
    check(replace(asked, form=TableFormat.PARQUET))  # it reads that format, and does not write it
    folder, kind = _followed(asked)
    installed(kind)
    from barnabas.pipeline.tables.added import added, write_added

    try:
        found = added(folder, kind, first)
    except ValueError as problem:
        raise Trouble(f"--from-batch {first}: {problem}") from None
    except OSError as problem:
        where = problem.filename or folder
        raise Trouble(f"{where}: {problem.strerror or problem}", COULD_NOT_RUN) from None
    if found.next == first:
        if asked.as_json:
            output.raw(json_text({"next_batch": first}, indent=2))
        else:
            output.out.print("nothing was added")
            output.out.print(next_line(first))
        return FINE
    try:
        with (
            interruptible(),
            taken(asked.folder, "capture"),
            shown(output) as progress,
        ):
            if any(path.name != "_lock" for path in asked.folder.iterdir()):
                raise Trouble(f"--out {asked.folder} is not empty: --from-batch needs a new folder")
            files = [path for paths in found.files.values() for path in paths]
            with session_of(asked, progress, files) as spark:
                progress.step(0, 1, "copying what was added")
                with watching(spark, asked, progress):
                    write_added(spark, folder / kind, found.files, asked.folder.resolve())
                outcome = analyses(spark, asked, progress)
                progress.end()
                return printed(outcome, asked, output, found.next)
    except KeyboardInterrupt:
        output.note(
            f"interrupted: {asked.folder} is not complete; choose a new folder to start again"
        )
        return INTERRUPTED


def _followed(asked: AnalyzeOptions) -> tuple[Path, str]:
    """The folder of tables, and the format in which it has its batches."""
    if len(asked.captures) != 1 or asked.tls_keys is not None or asked.tables:
        raise Trouble(
            "--from-batch takes one folder, that of `analyze --follow --format delta --out FOLDER`, "
            "and neither --tables nor --tls-keys"
        )
    folder = asked.paths[0].resolve()
    kinds = [asked.table_format] if asked.table_format else list(PACKAGES)
    there = [kind for kind in kinds if (folder / kind / "exchanges").is_dir()]
    if "batch" not in partitions(folder) or not there:
        raise Trouble(
            f"--from-batch: {folder} has no batches in a table format: follow into it with --format "
            f"{kinds[0]}"
        )
    if len(there) > 1:
        raise Trouble(f"{folder} has batches as {' and '.join(there)}: --format says which to take")
    return folder, there[0]

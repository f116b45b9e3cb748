"""`barnabas analyze --from-batch`: only what new batches of a followed folder have added."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from barnabas.cli.analyze.analyze import (
    analyses,
    check,
    check_delta,
    printed,
    session_of,
    taken,
    watching,
)
from barnabas.cli.analyze.options import AnalyzeOptions, TableFormat
from barnabas.cli.analyze.progress import step_progress
from barnabas.cli.analyze.prompt_stop import prompt_stop
from barnabas.cli.analyze.summary import next_line
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.pipeline.tables.folders import partitions
from barnabas.trouble import COULD_NOT_RUN, FINE, INTERRUPTED, Trouble


def analyze_added(options: AnalyzeOptions, first: int) -> int:
    """Write tables, analyses and a report of the batches from `first` on into a new folder. Raises Trouble.

    It prints which batch comes next. The captures of the options are a folder of tables. Returns the exit
    code, as `analyze` does.
    """
    output = Output()
    check(replace(options, form=TableFormat.PARQUET))  # the format is only read
    folder = _followed(options)
    check_delta()
    from barnabas.pipeline.tables.added import added, write_added

    try:
        batches = added(folder, first)
    except ValueError as problem:
        raise Trouble(f"--from-batch {first}: {problem}") from None
    except OSError as problem:
        where = problem.filename or folder
        raise Trouble(f"{where}: {problem.strerror or problem}", COULD_NOT_RUN) from None
    if batches.next == first:
        if options.as_json:
            output.raw(json_text({"next_batch": first}, indent=2))
        else:
            output.out.print("nothing was added")
            output.out.print(next_line(first))
        return FINE
    try:
        with (
            prompt_stop(
                f"interrupted: {options.folder} is not complete; choose a new folder to start again",
                output,
            ),
            taken(options.folder, "capture"),
            step_progress(output) as progress,
        ):
            if any(path.name != "_lock" for path in options.folder.iterdir()):
                raise Trouble(
                    f"--out {options.folder} is not empty: --from-batch needs a new folder"
                )
            files = [path for paths in batches.files.values() for path in paths]
            with session_of(options, progress, files) as spark:
                progress.step(0, 1, "copying what was added")
                with watching(spark, options, progress):
                    write_added(spark, folder, batches.files, options.folder.resolve())
                outcome = analyses(spark, options, progress)
                progress.end()
                return printed(outcome, options, output, batches.next)
    except KeyboardInterrupt:
        return INTERRUPTED


def _followed(options: AnalyzeOptions) -> Path:
    """Return the folder of tables, which has batches as Delta tables."""
    if len(options.captures) != 1 or options.tls_keys is not None or options.tables:
        raise Trouble(
            "--from-batch takes one folder, written by `analyze --follow --format delta --out FOLDER`; "
            "omit --tables and --tls-keys"
        )
    folder = options.paths[0].resolve()
    if "batch" not in partitions(folder) or not (folder / "delta" / "exchanges").is_dir():
        raise Trouble(
            f"--from-batch: {folder} has no Delta tables: write them by --follow with --format delta"
        )
    return folder

"""`barnabas analyze --from-batch`: only what batches of a folder that is followed have added."""

from __future__ import annotations

from pathlib import Path

from barnabas.cli.analyze.analyze import (
    PACKAGES,
    Wanted,
    analyses,
    check,
    installed,
    printed,
    session_of,
    taken,
    watching,
)
from barnabas.cli.analyze.progress import shown
from barnabas.cli.analyze.summary import next_line
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.endings import interruptible
from barnabas.pipeline.tables.folders import partitions
from barnabas.trouble import COULD_NOT_RUN, FINE, INTERRUPTED, Trouble


def analyze_added(wanted: Wanted, first: int, output: Output | None = None) -> int:
    """Tables, analyses and a report of batches from this one on, in a new folder, and which comes next.

    wanted: of which the captures are a folder of tables. Returns the exit code, as `analyze`. Raises Trouble.
    """
    output = output or Output()
    check(wanted._replace(table_format=None))  # that is what it reads, not what it writes
    folder, kind = _followed(wanted)
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
        if wanted.as_json:
            output.raw(json_text({"next_batch": first}, indent=2))
        else:
            output.out.print("nothing was added")
            output.out.print(next_line(first))
        return FINE
    try:
        with (
            interruptible(),
            taken(wanted.out, "capture"),
            shown(output) as progress,
        ):
            if any(path.name != "_lock" for path in wanted.out.iterdir()):
                raise Trouble(f"--out {wanted.out} is not empty: --from-batch needs a new folder")
            files = [path for paths in found.files.values() for path in paths]
            with session_of(wanted, progress, files) as spark:
                progress.step(0, 1, "copying what was added")
                with watching(spark, wanted, progress):
                    write_added(spark, folder / kind, found.files, wanted.out.resolve())
                outcome = analyses(spark, wanted, progress)
                progress.end()
                return printed(outcome, wanted, output, found.next)
    except KeyboardInterrupt:
        output.note(
            f"interrupted: {wanted.out} is not complete; choose a new folder to start again"
        )
        return INTERRUPTED


def _followed(wanted: Wanted) -> tuple[Path, str]:
    """The folder of tables, and the format in which it has its batches."""
    if len(wanted.captures) != 1 or wanted.tls_keys is not None or wanted.also:
        raise Trouble(
            "--from-batch takes one folder, that of `analyze --follow --format delta --out FOLDER`, "
            "and neither --tables nor --tls-keys"
        )
    folder = wanted.captures[0].resolve()
    kinds = [wanted.table_format] if wanted.table_format else list(PACKAGES)
    there = [kind for kind in kinds if (folder / kind / "exchanges").is_dir()]
    if "batch" not in partitions(folder) or not there:
        raise Trouble(
            f"--from-batch: {folder} has no batches in a table format: follow into it with --format "
            f"{kinds[0]}"
        )
    if len(there) > 1:
        raise Trouble(f"{folder} has batches as {' and '.join(there)}: --format says which to take")
    return folder, there[0]

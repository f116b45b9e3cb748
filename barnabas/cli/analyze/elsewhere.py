"""`barnabas analyze` from and to Hadoop's file systems, such as s3a://, by copies on this machine."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from barnabas.captures.files.capture_folder import listed
from barnabas.captures.files.file_format import MOST_MAGIC, may_be_capture
from barnabas.cli.analyze.analyze import (
    check,
    check_captures,
    printed,
    session_of,
    taken,
    work,
)
from barnabas.cli.analyze.options import AnalyzeOptions
from barnabas.cli.analyze.progress import Shown, shown
from barnabas.cli.captures.files import capture_files, capture_path
from barnabas.cli.console.output import Output
from barnabas.endings import interruptible
from barnabas.pipeline.spark.hadoop_files import HadoopFiles, scheme_of
from barnabas.trouble import INTERRUPTED, Trouble


def analyze_elsewhere(asked: AnalyzeOptions, output: Output | None = None) -> int:
    """Analyze captures into a folder, of which some have a scheme.

    Returns the exit code. Raises Trouble.
    """
    output, out = output or Output(), asked.out
    if asked.table_format == "iceberg" and scheme_of(out) is not None:
        raise Trouble(
            "--format iceberg names files by their paths: --out is a folder of this machine"
        )
    if check(asked).kind == "connect":
        raise Trouble("what has a scheme, such as s3a://, can't be had by Spark Connect: use paths")
    try:
        with (
            interruptible(),
            tempfile.TemporaryDirectory(prefix="barnabas-analyze-") as staging,
            shown(output) as progress,
        ):
            return _staged(asked, Path(staging), progress, output)
    except KeyboardInterrupt:
        output.note(f"interrupted: {out} is not written; run the same command to start again")
        return INTERRUPTED


def _staged(asked: AnalyzeOptions, staging: Path, progress: Shown, output: Output) -> int:
    from barnabas.pipeline.analyze import REPORT
    from barnabas.pipeline.tables.sql import FILE, script

    out = asked.out
    with session_of(asked, progress, None) as spark:
        files = HadoopFiles(spark)
        there = scheme_of(out) is not None
        if there and files.exists(out):
            raise Trouble(f"--out {out} is there already: choose a new folder")
        place = staging / "out" if there else Path(out)
        progress.step(0, 1, "copying captures")
        given = [
            path
            for number, one in enumerate(asked.captures)
            for path in _here(one, files, staging / f"{number}")
        ]
        local = replace(asked, captures=[*map(str, given)], out=str(place))
        found = capture_files(given).captures
        check_captures(asked, found)
        with taken(place, "capture"):
            outcome = work(spark, local, found, progress)
            if there:
                progress.step(0, 1, f"copying to {out}")
                (place / FILE).write_text(script(place, out), "utf-8")
                files.put(place, out)
                outcome = outcome._replace(report=f"{out.rstrip('/')}/{REPORT}")
        progress.end()
        return printed(outcome, asked, output)


def _here(text: str, files: HadoopFiles, folder: Path) -> list[Path]:
    """Where a capture is, or those of a folder are, on this machine: what has a scheme is copied."""
    if scheme_of(text) is None:
        return [capture_path(text)]
    urls = files.matching(text)
    if urls != [text]:
        urls = [url for url in urls if may_be_capture(files.head(url, MOST_MAGIC))]
    copies = [folder / f"{number}" / Path(url).name for number, url in enumerate(urls)]
    for url, copy in zip(urls, copies, strict=True):
        copy.parent.mkdir(parents=True)  # others may have the name, too
        files.fetch(url, copy)
    found = copies if urls == [text] else listed(copies).captures
    if not found:
        raise Trouble(f"no capture is at {text}")
    return found

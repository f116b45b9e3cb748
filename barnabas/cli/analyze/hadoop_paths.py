"""`barnabas analyze` with paths of Hadoop's file systems, such as s3a://, by copies on this machine."""

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
from barnabas.cli.analyze.progress import StepProgress, step_progress
from barnabas.cli.analyze.prompt_stop import prompt_stop
from barnabas.cli.captures.files import capture_files, capture_path
from barnabas.cli.console.output import Output
from barnabas.pipeline.spark.hadoop_files import HadoopFiles, scheme_of
from barnabas.trouble import INTERRUPTED, Trouble


def analyze_elsewhere(options: AnalyzeOptions) -> int:
    """Analyze captures into a folder where some of the paths have a scheme.

    Returns the exit code. Raises Trouble.
    """
    output, out = Output(), options.out
    if check(options).kind == "connect":
        raise Trouble("Spark Connect can't read URLs such as s3a://: use paths")
    try:
        with (
            tempfile.TemporaryDirectory(prefix="barnabas-analyze-") as staging,
            prompt_stop(
                f"interrupted: {out} is not written; run the same command to start again",
                output,
                [Path(staging)],
            ),
            step_progress(output) as progress,
        ):
            return _staged(options, Path(staging), progress, output)
    except KeyboardInterrupt:
        return INTERRUPTED


def _staged(options: AnalyzeOptions, staging: Path, progress: StepProgress, output: Output) -> int:
    from barnabas.pipeline.analyze import REPORT
    from barnabas.pipeline.tables.sql import FILE, script

    out = options.out
    with session_of(options, progress, None) as spark:
        files = HadoopFiles(spark)
        there = scheme_of(out) is not None
        if there and files.exists(out):
            raise Trouble(f"--out {out} exists: choose a new folder")
        local_out = staging / "out" if there else Path(out)
        progress.step(0, 1, "copying captures")
        paths = [
            path
            for number, text in enumerate(options.captures)
            for path in _here(text, files, staging / f"{number}")
        ]
        local = replace(options, captures=[*map(str, paths)], out=str(local_out))
        captures, skipped = check_captures(options, capture_files(paths))
        with taken(local_out, "capture"):
            outcome = work(spark, local, captures, progress, skipped)
            if there:
                progress.step(0, 1, f"copying to {out}")
                (local_out / FILE).write_text(script(local_out, out), "utf-8")
                files.put(local_out, out)
                outcome = outcome._replace(report=f"{out.rstrip('/')}/{REPORT}")
        progress.end()
        return printed(outcome, options, output)


def _here(text: str, files: HadoopFiles, folder: Path) -> list[Path]:
    """Return the local paths of a capture or of a folder's captures; paths with a scheme are copied."""
    if scheme_of(text) is None:
        return [capture_path(text)]
    urls = files.matching(text)
    if urls != [text]:
        urls = [url for url in urls if may_be_capture(files.head(url, MOST_MAGIC))]
    copies = [folder / f"{number}" / Path(url).name for number, url in enumerate(urls)]
    for url, copy in zip(urls, copies, strict=True):
        copy.parent.mkdir(parents=True)  # several captures may have the same name
        files.fetch(url, copy)
    captures = copies if urls == [text] else listed(copies).captures
    if not captures:
        raise Trouble(f"no capture is at {text}")
    return captures

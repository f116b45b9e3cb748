"""`barnabas spec corpus`: golden frames as files."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import progress_bar
from barnabas.cli.specs.show import known
from barnabas.fuzz.campaigns.campaign import version_range
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.golden.corpus import GoldenCorpus, all_versions, golden_corpus
from barnabas.fuzz.golden.files import FileFormat, write_corpus
from barnabas.peers.apache.errors import UnavailableError
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble, os_errors


def write(
    out: Path, apis: Sequence[str], versions: str | None, file_format: FileFormat, seed: int
) -> int:
    """Write a corpus, and return the exit code. Raises Trouble."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Trouble(f"{out} exists and is not an empty folder: choose another one")
    corpus = _made(seed, _chosen(apis, versions))
    with os_errors(f"can't write {out}", COULD_NOT_RUN):
        _write_whole(corpus, out, file_format)
    print(_summary(corpus, out))
    for name in corpus.disputed:
        print(f"Kafka's classes read {name} otherwise", file=sys.stderr)
    return FINDINGS if corpus.disputed else FINE


def _write_whole(corpus: GoldenCorpus, out: Path, file_format: FileFormat) -> None:
    """Write all files or none. An existing folder stays, since it may be a mount point. Raises OSError."""
    existed = out.exists()
    above = out if existed else out.parent
    above.mkdir(parents=True, exist_ok=True)
    written = Path(tempfile.mkdtemp(dir=above, prefix=f".{out.name}-"))
    try:
        write_corpus(corpus, written, file_format)
        written.chmod(0o755)
        if existed:
            for path in sorted(written.iterdir()):
                path.rename(out / path.name)
        else:
            written.rename(out)
    finally:
        shutil.rmtree(written, ignore_errors=True)


def _chosen(apis: Sequence[str], versions: str | None) -> dict[int, range]:
    """Return the chosen versions of each chosen API that has them. Raises Trouble if none has."""
    chosen = all_versions()
    if apis:
        keys = [known(name, None, None).key for name in apis]
        chosen = {key: chosen[key] for key in sorted(keys)}
    if versions is None:
        return chosen
    within, problem = {}, ""
    for key in chosen:
        try:
            within[key] = version_range(known(str(key), None, None).name, versions)
        except ValueError as unknown:
            problem = problem or str(unknown)
    if not within:
        raise Trouble(f"--versions: {problem}")
    return within


def _made(seed: int, versions: dict[int, range]) -> GoldenCorpus:
    with progress_bar(Output()) as progress:
        task = progress.add_task("messages", total=sum(map(len, versions.values())))
        corpus = golden_corpus(seed, versions, lambda count: progress.update(task, advance=count))
        task = progress.add_task("read by Kafka's classes", total=len(corpus.frames))
        try:
            corpus.ask_kafka(lambda count: progress.update(task, advance=count))
        except UnavailableError as problem:
            print(f"barnabas: not verified with Kafka's classes: {problem}", file=sys.stderr)
        except CannotRun as problem:
            raise Trouble(str(problem), COULD_NOT_RUN) from None
    return corpus


def _summary(corpus: GoldenCorpus, out: Path) -> str:
    counts = corpus.manifest
    verified = f"verified by kafka-clients {', '.join(counts['kafkaClients'])}"
    return (
        f"{out}: {counts['frames']:,} frames, {counts['malformedFrames']:,} malformed ones, "
        f"{counts['recordSets']} record sets, {counts['malformedRecordSets']} malformed ones; "
        f"{verified if counts['kafkaClients'] else 'not verified'}"
    )

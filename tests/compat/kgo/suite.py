"""The suite as its authors run it: the module's tests by `go test`, told where the brokers are.

What it reads of the environment (pkg/kgo/helpers_test.go): KGO_SEEDS, KGO_TEST_RF (replicas of its topics)
and KGO_TEST_RECORDS (of each of its pipelines) are given here; KGO_TEST_MAX_TOPIC_PARTS, KGO_TEST_UNSAFE and
KGO_LOG_LEVEL pass through if they are set; KGO_TEST_TLS, KGO_TEST_SCRAM and KGO_TEST_SCRAM_SEEDS are for
listeners that the cluster does not have, so that its two tests of SCRAM skip themselves.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.peers.clients.cache import run
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import go
from tests.compat.connections import connected, family
from tests.compat.kgo.outcomes import Run, read

MODULE: Final = "github.com/twmb/franz-go"

VERSION: Final = "v1.21.4"
"""The release whose tests are run."""

RECORDS: Final = 30_000
"""Of each pipeline."""

MINUTES: Final = 30
"""After these a run is ended, as it is on a machine that hangs."""

PACKAGES: Final = "./pkg/kgo/..."

TEST: Final = ("test", "-trimpath")
"""What is built in one temporary folder is found again for another one."""

_EVERY: Final = 0.5
"""Seconds between two looks at whom it is connected to."""

_OVERTIME: Final = 120.0
"""Seconds that `go test` has to build, and to end by itself after its own time limit."""


class Ended(NamedTuple):
    """A run that is over."""

    run: Run
    seconds: float
    addresses: Set[str]
    """host:port of all that it was seen connected to (on Linux)."""


@contextlib.contextmanager
def module() -> Iterator[Path]:
    """A copy of the module with its tests built, gone at the end. Raises UnavailableClientError."""
    name = f"{MODULE}@{VERSION}"
    with tempfile.TemporaryDirectory(prefix="barnabas-kgo-") as temporary:
        source = _downloaded(name, Path(temporary))
        folder = Path(shutil.copytree(source, Path(temporary) / "module"))
        for place in (folder, *folder.rglob("*")):  # the cache's are read-only
            place.chmod(place.stat().st_mode | 0o200)
        built = [go(), *TEST, "-run", "^$", PACKAGES]
        run(
            f"the tests of {name} can't be built",
            built,
            within=folder,
            environment=_environment(),
        )
        yield folder


def _downloaded(name: str, within: Path) -> Path:
    """Where Go keeps a module."""
    line = [go(), "mod", "download", "-json", name]
    done = subprocess.run(
        line, cwd=within, env=_environment(), capture_output=True, text=True, check=False
    )
    answer = json.loads(done.stdout or "{}")
    if "Dir" not in answer:
        said = " ".join((answer.get("Error") or done.stderr).split())
        raise UnavailableClientError(f"{name} can't be downloaded: {said}")
    return Path(answer["Dir"])


def _environment(**more: str) -> dict[str, str]:
    """Ours, without what would have Go look elsewhere than into the module."""
    return {"KGO_LOG_LEVEL": "none", **os.environ, "GOFLAGS": "", "GOWORK": "off", **more}


def execute(folder: Path, seeds: str, events: Path, *, only: str, replicas: int) -> Ended:
    """Run the module's tests against the brokers at `seeds`; their events are kept in a file.

    only: as `go test -run` takes it.
    """
    environment = _environment(
        KGO_SEEDS=seeds, KGO_TEST_RF=str(replicas), KGO_TEST_RECORDS=str(RECORDS)
    )
    line = [go(), *TEST, "-json", "-count=1", f"-timeout={MINUTES}m", "-run", only, PACKAGES]
    addresses: set[str] = set()
    begun = time.monotonic()
    with (
        events.open("w") as out,
        subprocess.Popen(line, cwd=folder, env=environment, stdout=out, stderr=out) as process,
    ):
        try:
            while process.poll() is None and time.monotonic() < begun + 60 * MINUTES + _OVERTIME:
                if Path("/proc/net/tcp").exists():
                    addresses |= connected(family(process.pid))
                time.sleep(_EVERY)
        finally:
            process.terminate()
    seconds = time.monotonic() - begun
    with events.open() as lines:
        return Ended(read(lines), seconds, addresses)

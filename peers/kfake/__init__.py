"""franz-go's fake cluster (pkg/kfake): a Kafka broker in Go, in memory, built with the installed Go.

It has no releases: the revision is fixed, and the release of franz-go that it is built with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from barnabas.peers.clients.client import Program
from barnabas.peers.clients.golang import built

FRANZ_GO: Final = "github.com/twmb/franz-go"
REVISION: Final = "v0.0.0-20260918054303-01f206a7e32c"
WITH: Final = "v1.22.3"

NAME: Final = f"kfake {REVISION.rpartition('-')[2]}"
"""The name, with the commit."""


def kfake_program(*topics: str) -> Program:
    """Return the program of the fake cluster: it prints its address, and exits at the end of its stdin.

    Raises:
        UnavailableClientError: The program can't be built.
    """
    modules = f"{FRANZ_GO}/pkg/kfake@{REVISION}", f"{FRANZ_GO}@{WITH}"
    return Program(
        [str(built(NAME, [Path(__file__).with_name("main.go")], modules, WITH)), *topics]
    )

"""franz-go's fake cluster (pkg/kfake): a Kafka broker in Go, in memory, built with the Go on the path.

It has no releases: a revision is named, and the release of franz-go that it is built with.
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
"""What it is called, with the commit."""


def kfake_program(*topics: str) -> Program:
    """What serves it: prints its address, ends with its stdin. Raises UnavailableClientError."""
    modules = f"{FRANZ_GO}/pkg/kfake@{REVISION}", f"{FRANZ_GO}@{WITH}"
    return Program(
        [str(built(NAME, [Path(__file__).with_name("main.go")], modules, WITH)), *topics]
    )

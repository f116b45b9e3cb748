"""Who makes malformed messages, a process each: `python -m bench.makers NAME SECONDS`.

What is timed is the processor time of making cases, after a warm-up that makes what is made once in a process
(bombs, other messages, the code of codecs); nothing is sent by any of them.
"""

from __future__ import annotations

import gc
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.corpus.sources import generated
from barnabas.fuzz.engine.case_maker import Maker
from barnabas.fuzz.generators.messages import message
from barnabas.fuzz.targets.decoder import DecoderTarget
from barnabas.specs import keys
from barnabas.specs.frames import Direction
from barnabas.specs.registry import REGISTRY, api
from barnabas.specs.releases import offered

SOME: Final = (
    keys.PRODUCE,
    keys.FETCH,
    keys.METADATA,
    keys.JOIN_GROUP,
    keys.API_VERSIONS,
)
"""The APIs that an ordinary campaign is about."""

RELEASE: Final = "3.9"
BATCH: Final = DecoderTarget.at_once
"""Cases that are made at once."""

_WARM: Final = 20_000
_BLOCK: Final = 500


def mutated() -> Iterator[int]:
    """Sizes of our cases: requests of some APIs, in the versions of a release, all mutators."""
    versions = {key: offered(RELEASE)[key] for key in SOME}
    return _cases(Maker("bench", generated("bench", versions, "request")))


def mutated_metadata() -> Iterator[int]:
    """Sizes of our cases of one request in one version: what boofuzz is given, too."""
    return _cases(Maker("bench", generated("bench", {keys.METADATA: (1, 1)}, "request")))


def _cases(maker: Maker) -> Iterator[int]:
    for first in itertools.count(0, BATCH):  # as a campaign makes them
        for case in maker.cases(range(first, first + BATCH)):
            yield sum(map(len, case.chunks))


def fresh() -> Iterator[int]:
    """Sizes of fresh messages of every API, version and direction in turn."""
    ways: tuple[Direction, ...] = ("request", "response")
    kinds = [
        (key, version, contestant)
        for key, _, _ in REGISTRY
        for contestant in ways
        for version in range(api(key).versions[0], api(key).versions[1] + 1)
    ]
    number = 0
    while True:
        for key, version, contestant in kinds:
            yield len(message(key, version, contestant, SeededRandom("bench", number), "").frame)
            number += 1


def boofuzz_metadata() -> Iterator[int]:
    """Sizes of boofuzz's cases of a Metadata request v1 with one topic, its mutations over and over."""
    import boofuzz
    from boofuzz.mutation_context import MutationContext

    def request() -> Any:
        head = (
            boofuzz.Word("api_key", keys.METADATA, endian=">"),
            boofuzz.Word("api_version", 1, endian=">"),
            boofuzz.DWord("correlation_id", 1, endian=">"),
            boofuzz.Size("client_id_length", block_name="client_id", length=2, endian=">"),
            boofuzz.Block("client_id", children=(boofuzz.String("client", "barnabas"),)),
        )
        body = (
            boofuzz.DWord("topics_count", 1, endian=">"),
            boofuzz.Size("topic_length", block_name="topic", length=2, endian=">"),
            boofuzz.Block("topic", children=(boofuzz.String("name", "fuzz-topic"),)),
        )
        return boofuzz.Request(
            "metadata",
            children=(
                boofuzz.Size("size", block_name="frame", length=4, endian=">"),
                boofuzz.Block("frame", children=(*head, *body)),
            ),
        )

    while True:
        made = request()
        for mutations in made.get_mutations():
            yield len(made.render(MutationContext(mutations=mutations)))


MAKERS: Final[dict[str, Callable[[], Iterator[int]]]] = {
    "mutated": mutated,
    "mutated_metadata": mutated_metadata,
    "fresh": fresh,
    "boofuzz_metadata": boofuzz_metadata,
}


def main() -> None:
    """Make cases for so long; print how many, in how many seconds of the processor, and their bytes."""
    made = MAKERS[sys.argv[1]]()
    seconds = float(sys.argv[2])
    for _ in range(_WARM):
        next(made)
    gc.collect()
    cases = size = 0
    used = 0.0
    begun = time.process_time()
    while used < seconds:
        for _ in range(_BLOCK):
            size += next(made)
        cases += _BLOCK
        used = time.process_time() - begun
    print(json.dumps([cases, used, size]))


if __name__ == "__main__":
    main()

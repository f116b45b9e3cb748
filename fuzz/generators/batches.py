"""Valid record sets of any magic, made by the builders of barnabas.specs.records."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.generators.containers import names, packing
from barnabas.specs.records import Record, build

_NOW: Final = 1_500_000_000_000
_KEYS: Final = (None, b"", b"k", b"key-1")
_VALUES: Final = (None, b"", b"v", b"value", bytes(range(64)), b"x" * 300)
_HEADERS: Final = (
    (),
    (),
    (("h", b"x"),),
    (("h", None), ("", b"")),
)
_COUNTS: Final = (1, 1, 1, 2, 3, 10)
_SETS: Final = (1, 1, 1, 1, 2)
_PACKED_ONE_IN: Final = 3
_OLD_ONE_IN: Final = 6


def record_set(dice: SeededRandom, magic: int, *, mixed: bool = False) -> bytes:
    """Return one batch; if `mixed`, one or more batches as a broker returns them, some of an older magic."""
    if not mixed:
        return batch(dice, magic, 0)
    batches = []
    base = dice.pick((0, 0, 1, 100))
    for _ in range(dice.pick(_SETS)):
        here = dice.below(magic + 1) if dice.chance(_OLD_ONE_IN) else magic
        batches.append(batch(dice, here, base))
        base += 10
    return b"".join(batches)


def batch(dice: SeededRandom, magic: int, base: int) -> bytes:
    """Return a batch, with or without a producer id; for magic 0 and 1 messages, or a wrapper of some."""
    container = "none"
    if dice.below(_PACKED_ONE_IN) == 0:
        container = dice.pick(names(zstd=magic == 2))
    records = [_record(dice, magic, base + index) for index in range(dice.pick(_COUNTS))]
    more: dict[str, Any] = {}
    if magic == 2 and dice.chance(3):
        more = {"producer_id": 1, "producer_epoch": 0, "base_sequence": 0}
        more["is_transactional"] = dice.chance(3)
    return build(records, magic=magic, **packing(container, magic), **more)


def _record(dice: SeededRandom, magic: int, offset: int) -> Record:
    return Record(
        offset,
        _NOW + dice.below(1000) if magic else -1,
        dice.pick(_KEYS),
        dice.pick(_VALUES),
        dice.pick(_HEADERS) if magic == 2 else (),
    )

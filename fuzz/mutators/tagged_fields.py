"""Tagged fields (KIP-482): a section is a count of tags, then the number, size and data of each."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutators.mutator import Mutated
from barnabas.fuzz.mutators.splicing import replace
from barnabas.specs.codec.careful_encoder import uvarint

_FAR: Final = (2**31 - 1, 2**31 - 2, 2**31, 2**32 - 1, 2**30, 2**24, 1 << 20)
_TIMES: Final = (1000, 2000, 5000, 20_000)
_FIRST: Final = 1000
"""Beyond all that any schema has."""


def sections(message: FieldMap) -> Sequence[Part]:
    """Return the tagged sections that were read whole."""
    following = itertools.pairwise(message.parts)
    return [part for part, count in following if part.kind == "tags" and count.kind == "count"]


def unknown(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Add a tag that readers must skip: the next number, a far one, or one that is negative to Java."""
    last = _last_number(message, part)
    number = dice.pick((last + 1, last + 1, last + 2, 100, 10_000, 2**31 - 1, 2**31, 2**32 - 1))
    data = dice.some_bytes(dice.pick((0, 1, 4, 64, 1000)))
    detail = f"tag {number} with {len(data)} bytes more"
    return _add(message, part, _tag(number, data), 1, dice, detail)


def duplicate(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Repeat all tags of a section, which KIP-482 forbids; in an empty one, add a new tag several times."""
    count = _count_of(message, part)
    if count.value > 0 and dice.chance(2):
        again = message.seed.frame[count.end : part.end]
        return _add(message, part, again, count.value, dice, "all tags of the section twice")
    number = max(_last_number(message, part), 0) + dice.below(3)
    tag = _tag(number, dice.some_bytes(dice.below(5)))
    times = dice.pick((2, 2, 3, 50))
    return _add(message, part, tag * times, times, dice, f"tag {number} {times} times")


def descending(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Add tags in descending order, which KIP-482 forbids."""
    high = _last_number(message, part) + dice.between(5, 200)
    step = dice.between(1, 2)
    numbers = [high - step * turn for turn in range(dice.between(2, 3))]
    tags = b"".join(_tag(number, dice.some_bytes(dice.below(4))) for number in numbers)
    detail = f"tags {', '.join(map(str, numbers))} in this order"
    return _add(message, part, tags, len(numbers), dice, detail)


def wrong_size(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Add a tag whose size is wrong by one, reaches to the end of the frame or beyond, or is far off."""
    data = dice.some_bytes(dice.pick((0, 1, 8)))
    remain = len(message.seed.frame) - part.end + len(data)
    near = (0, max(len(data) - 1, 0), len(data) + 1, remain, remain + 1, 2 * remain + 1)
    size = dice.pick(_FAR if dice.chance(2) else near)
    if size == len(data):
        size += 1
    number = _last_number(message, part) + dice.pick((1, 1, 2, 100))
    detail = f"tag {number} with {len(data)} bytes says {size}"
    return _add(message, part, uvarint(number) + uvarint(size) + data, 1, dice, detail)


def flood(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Add thousands of unknown tags, without data or with a byte each."""
    times = dice.pick(_TIMES)
    size = dice.below(2)
    detail = f"{times} tags more of {size} bytes each"
    return _add(message, part, _many(times, size), times, dice, detail)


@functools.cache
def _many(times: int, size: int) -> bytes:
    data = bytes(size)
    return b"".join(_tag(number, data) for number in range(_FIRST, _FIRST + times))


def _tag(number: int, data: bytes) -> bytes:
    return uvarint(number) + uvarint(len(data)) + data


def _add(
    message: FieldMap, section: Part, tags: bytes, count: int, dice: SeededRandom, detail: str
) -> Mutated:
    """Add tags to the end of a section, and their number to its count."""
    around = (message.index[section.path] + 1, *section.around)
    end = section._replace(start=section.end, around=around)
    return replace(message, end, tags, dice, detail, count)


def _count_of(message: FieldMap, section: Part) -> Part:
    """Return the count of a section, which comes right after it in the map."""
    return message.parts[message.index[section.path] + 1]


def _last_number(message: FieldMap, section: Part) -> int:
    """Return the highest number of a section's tags, or -1."""
    if _count_of(message, section).value <= 0:
        return -1
    numbers = f"{section.path}["
    return max(
        (
            part.value
            for part in message.parts[message.index[section.path] + 1 :]
            if section.start <= part.start < section.end
            and part.kind == "uvarint"
            and part.path.startswith(numbers)
            and part.path.endswith("].tag")
        ),
        default=-1,
    )

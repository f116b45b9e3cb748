"""Mutators of structure: elements, fields and bytes that are missing, repeated, added or mixed up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.generators.messages import kept
from barnabas.fuzz.mutators.mutator import Mutated
from barnabas.fuzz.mutators.splicing import ALL, SIZE, replace, splice
from barnabas.plural import plural
from barnabas.specs.registry import api

_ELEMENT: Final = re.compile(r"\[\d+\]$")
_NUMBERS_ABOUT: Final = frozenset(("marker", "length", "count", "crc"))
_TIMES: Final = (1, 1, 1, 2, 10, 100, 2000)
_MOST_ELEMENTS: Final = 256 << 10
_MOST_BYTES: Final = 128 << 10
"""Bytes of repeated elements, and of a repeated field, that are added at most."""
_TRAILING: Final = (1, 1, 2, 4, 16, 1000)


def elements(message: FieldMap) -> Sequence[Part]:
    """Return the elements of arrays that have bytes, batches of a record set and single tags among them."""
    return [
        part
        for part in message.parts
        if part.end > part.start
        and part.kind not in _NUMBERS_ABOUT
        and _ELEMENT.search(part.path)
        and (part.around or message.packing is not None)
    ]


def repeat_element(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Repeat an element; its array's count is corrected."""
    part, count = _counted(message, part)
    size = part.end - part.start
    times = max(min(dice.pick(_TIMES), _MOST_ELEMENTS // size), 1)
    repeats = message.seed.frame[part.start : part.end] * times
    after = part._replace(start=part.end)
    return replace(message, after, repeats, dice, f"{times} times more", times * count)


def drop_element(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Leave an element out; its array's count is corrected."""
    part, count = _counted(message, part)
    return replace(message, part, b"", dice, f"left out, {part.end - part.start} bytes", -count)


def _counted(message: FieldMap, part: Part) -> tuple[Part, int]:
    """Return an element with the length in front of it, if it has one, and how many elements it counts as.

    A batch counts as none: a record set says how many bytes it has, not how many batches.
    """
    if part.around:
        count = message.parts[part.around[0]]
        if (
            count.kind == "length"
            and count.path == f"{part.path}.length"
            and count.end == part.start
        ):
            part = part._replace(start=count.start, around=part.around[1:])
    return part, 0 if part.kind == "batch" else 1


def drop_bytes(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Leave out the first bytes of a field, or all. Its own length, if it has one, fits what remains."""
    size = part.end - part.start
    some = size if size == 1 or dice.chance(2) else dice.between(1, size)
    first = part._replace(end=part.start + some)
    return replace(message, first, b"", dice, f"{some} of {size} bytes gone")


def repeat_bytes(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Repeat the bytes of a field after it."""
    repeats = message.seed.frame[part.start : part.end][:_MOST_BYTES]
    after = part._replace(start=part.end)
    return replace(message, after, repeats, dice, f"{plural(len(repeats), 'byte')} again")


def trailing(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Add bytes after the end; the length of what they are added to is corrected."""
    size = dice.pick(_TRAILING)
    more = bytes(size) if dice.chance(2) else dice.some_bytes(size)
    after = part._replace(start=part.end, around=(*_numbers_about(message, part), *part.around))
    return replace(message, after, more, dice, f"{plural(size, 'byte')} more after it")


def _numbers_about(message: FieldMap, part: Part) -> tuple[int, ...]:
    """Return the numbers within a batch, record or tag that say how long it is, or cover its end."""
    if part.kind in ("frame", "records", "container"):
        return ()
    numbers = (message.index.get(f"{part.path}.{name}") for name in ("size", "crc", "length"))
    return tuple(index for index in numbers if index is not None)


def _after(message: FieldMap, start: int) -> Part:
    """Return everything from some byte on as a part."""
    return message.parts[0]._replace(start=start, around=())


def truncate(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """End a frame at the beginning of a field or within it; the frame's size is corrected, or not."""
    at = part.start if dice.chance(2) else dice.between(part.start, part.end - 1)
    corrected = not dice.chance(8)
    mend = ALL if corrected else ALL - SIZE
    detail = f"{len(message.seed.frame) - at} bytes cut off"
    detail += "" if corrected else "; frame size unchanged"
    return Mutated((splice(message, _after(message, at), b"", mend=mend),), detail)


def outermost(message: FieldMap) -> Sequence[Part]:
    """Return the lengths, counts and tagged sections that are in no other field."""
    return [
        part
        for part in message.parts[1:]
        if not part.around and part.kind in ("length", "count", "tags")
    ]


def join(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """End a message with the last bytes of another one of its API, maybe in another version."""
    seed = message.seed
    low, high = api(seed.key).versions
    version = seed.version if dice.chance(2) else dice.between(low, high)
    other = kept(seed.key, version, seed.direction, dice)
    at = dice.below(len(other))
    if other[at:] == seed.frame[part.start :]:
        at = max(at - 1, 0) if at else 1
    chunk = splice(message, _after(message, part.start), other[at:])
    return Mutated((chunk,), f"from here on the last {len(other) - at} bytes of one of v{version}")


def body(message: FieldMap) -> Sequence[Part]:
    """Return the first field of the body."""
    return [part for part in message.parts[1:] if not part.path.startswith("header.")][:1]


def noise(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Put random bytes, or one byte many times, in the place of the body."""
    size = dice.pick((1, 4, 16, 64, 256, 1024))
    byte = bytes((dice.pick((0x00, 0x01, 0x7F, 0x80, 0xFF)),))
    some = dice.some_bytes(size) if dice.chance(2) else byte * size
    description = "random bytes" if some != byte * size else f"bytes of {byte.hex()}"
    chunk = splice(message, _after(message, part.start), some)
    return Mutated((chunk,), f"{size} {description} instead of the body")


def flip_bits(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Flip one to four bits of a field."""
    start, end = part.start, part.end
    size = 8 * (end - start)
    value = old = int.from_bytes(message.seed.frame[start:end], "big")
    bits = [dice.below(size) for _ in range(dice.between(1, 4))]
    for bit in bits:
        value ^= 1 << (size - 1 - bit)
    if value == old:  # a bit that is flipped twice is unchanged
        value ^= 1
    new = value.to_bytes(end - start, "big")
    return replace(message, part, new, dice, f"bits {bits} flipped")

"""Values of messages in Kafka's JSON form, made of a schema, a case and a seed. Pure."""

from __future__ import annotations

import base64
import random
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from barnabas.specs.jsonform import uuid_text
from tests.golden.definitions import versions

CASES: Final = (
    "defaults",
    "full",
    "nulls-leaf",
    "nulls-all",
    "empties",
    "empties-leaf",
    "empties-mid",
    "random-0",
    "random-1",
    "random-2",
)

BITS: Final = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint16": 16, "uint32": 32}

STRINGS: Final = (
    "",
    "a",
    "topic-1",
    "group_ä",
    "日本語トピック",
    "emoji-😀-𝄞",
    'quote"back\\slash/tab\t',
    "\0nul\1",
    "\u07ff\u0800\uffff",
    "ﬁée\u0301",
    "x" * 126,
    "y" * 127,
)

FLOATS: Final = (0.0, -0.0, 1.5, -1e300, 5e-324, 1.7976931348623157e308)

UNKNOWN_TAGS: Final = (100, 127, 128, 300, 16383, 16384, 2**31 - 2)
"""Numbers that no field has, around those where a varint grows."""


class Values:
    """Makes one message's values; what chance decides depends on `seed` alone.

    defaults: by path. defined: the fields' definitions by their names. records: sets to choose from.
    """

    def __init__(
        self,
        seed: str,
        case: str,
        version: int,
        defaults: Mapping[str, Any],
        defined: Mapping[str, dict[str, Any]],
        records: Sequence[bytes],
    ) -> None:
        self._random = random.Random(seed)
        self._case = case
        self._version = version
        self._defaults = defaults
        self._defined = defined
        self._records = records

    def structure(self, schema: dict[str, Any], path: str = "") -> dict[str, Any]:
        """The fields of a schema by their names in Kafka's JSON."""
        made = {
            self._json_name(field): self._field(field, path + field["name"])
            for field in schema["fields"]
            if "tag" not in field or self._sends_tag()
        }
        if schema["flexible"] and self._sends_unknown():
            tags = sorted(self._random.sample(UNKNOWN_TAGS, self._random.choice((1, 1, 2))))
            made["_unknownTaggedFields"] = [
                {"tag": tag, "data": text(self._random.randbytes(self._random.randrange(9)))}
                for tag in tags
            ]
        return made

    def _json_name(self, field: dict[str, Any]) -> str:
        name: str = self._defined[field["name"]]["name"]
        return name[0].lower() + name[1:]

    def _sends_tag(self) -> bool:
        if self._case.startswith("random"):
            return self._random.random() < 0.5
        return self._case != "defaults"

    def _sends_unknown(self) -> bool:
        chance = {"full": 0.8, "random": 0.4}.get(self._case.partition("-")[0], 0)
        return self._random.random() < chance

    def _field(self, field: dict[str, Any], path: str) -> Any:
        if self._case == "defaults" and field["kind"] not in ("struct", "records"):
            found = self._defaults[path]
            return self._zero(field) if found is None and not field["nullable"] else found
        if self._null(field, path):
            return None
        match field["kind"]:
            case "array":
                return self._array(field["element"], path)
            case "struct":
                return self.structure(field, path + ".")
        return self._scalar(field["kind"])

    @staticmethod
    def _zero(field: dict[str, Any]) -> Any:
        return [] if field["kind"] == "array" else ""

    def _null(self, field: dict[str, Any], path: str) -> bool:
        """Whether it is null. The classes do not say of records whether they may be."""
        nullable = field["nullable"]
        if nullable is None:
            first, last = versions(self._defined[field["name"]].get("nullableVersions")) or (1, 0)
            nullable = first <= self._version <= last
        if not nullable:
            return False
        if self._case == "defaults":
            return path not in self._defaults or self._defaults[path] is None
        if self._case.startswith("random"):
            return self._random.random() < 0.3
        inner = field.get("element", field)["kind"] == "struct"
        return self._case == "nulls-all" or (self._case == "nulls-leaf" and not inner)

    def _array(self, element: dict[str, Any], path: str) -> list[Any]:
        count = self._count(element, path.count("."))
        if element["kind"] == "struct":
            made = [self.structure(element, path + ".") for _ in range(count)]
            # most begin with what identifies them, and some classes make one of two that are the same
            return list({str(next(iter(one.values()), "")): one for one in made}.values())
        return [self._scalar(element["kind"]) for _ in range(count)]

    def _count(self, element: dict[str, Any], depth: int) -> int:
        holds = any(field["kind"] == "array" for field in element.get("fields", ()))
        match self._case:
            case "empties":
                return 0
            case "empties-leaf":
                return int(holds)
            case "empties-mid":
                return int(holds and depth == 0)
            case "full":
                return self._random.choice((1, 2))
            case "nulls-leaf" | "nulls-all":
                return 1
        return self._random.choice((0, 1, 1, 2))

    def _scalar(self, kind: str) -> Any:
        chance = self._random
        match kind:
            case "bool":
                return chance.random() < 0.5
            case "float64":
                return chance.choice((*FLOATS, chance.uniform(-1000, 1000)))
            case "uuid":
                return uuid_text(
                    uuid.UUID(int=chance.choice((0, 2**128 - 1, chance.getrandbits(128))))
                )
            case "string":
                return "" if self._case == "empties" else self._string()
            case "bytes":
                empty = self._case.startswith("empties")
                return text(b"" if empty else chance.randbytes(chance.choice((0, 1, 7, 130))))
            case "records":
                return text(chance.choice(self._records))
        return self._integer(kind)

    def _string(self) -> str:
        letters = "".join(chr(self._random.randrange(33, 127)) for _ in range(6))
        return self._random.choice((*STRINGS, letters, letters))

    def _integer(self, kind: str) -> int:
        bits = BITS[kind]
        low, high = (0, 2**bits) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        some = self._random.getrandbits(self._random.randrange(1, bits))
        return self._random.choice((0, 1, high - 1, low, some, max(low, -1), max(low, -some)))


def fields_of(definition: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """All fields of a definition, by the names that they have in a schema.

    >>> dict(fields_of({"fields": [{"name": "KRaftVersion"}]}))
    {'kraft_version': {'name': 'KRaftVersion'}}
    """
    for field in definition.get("fields", ()):
        yield re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", field["name"]).lower(), field
        yield from fields_of(field)
    for common in definition.get("commonStructs", ()):
        yield from fields_of(common)


def text(data: bytes) -> str:
    """Bytes as Kafka's JSON has them."""
    return base64.b64encode(data).decode()


def completed(said: Any, given: Any) -> Any:
    """What a converter said of a message, with what it leaves out: unknown tags, the bytes of records."""
    if isinstance(said, dict):
        found = {name: completed(value, given[name]) for name, value in said.items()}
        tags = {name: given[name] for name in ("_unknownTaggedFields",) if name in given}
        return found | tags
    if isinstance(said, list):
        return [completed(one, other) for one, other in zip(said, given, strict=True)]
    return given if said == "" else said

"""What a campaign says: who gets cases, made of what, how many, and what is looked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core.core_schema import ValidationInfo

from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.targets.address_settings import address_of, is_address
from barnabas.fuzz.targets.apache_settings import ApacheSettings, in_words, is_apache
from barnabas.fuzz.targets.registry import sides
from barnabas.nearest import choices
from barnabas.specs.registry import NAMES, api, key_of

Names = Annotated[tuple[str, ...], Field(strict=False)]

_RANGE: Final = re.compile(r"(\d{1,5})(?:(\+)|-(\d{1,5}))?")


def _as_text(target: object) -> object:
    """A target as text, also one that a file has as a mapping."""
    if not isinstance(target, Mapping):
        return target
    try:
        return ApacheSettings.model_validate(target).text
    except ValidationError as error:
        raise ValueError(in_words(error)) from None


class Known(NamedTuple):
    """The names that a campaign may use: of mutators, oracles, sessions, corpora and kinds of targets."""

    mutators: tuple[str, ...]
    oracles: tuple[str, ...]
    sessions: tuple[str, ...]
    corpora: tuple[str, ...]
    targets: tuple[str, ...]


class _Settings(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class Budget(_Settings):
    """How long: whichever is reached first. At least one is given."""

    cases: Annotated[int, Field(ge=1, le=10**12)] | None = None
    """So many cases in all, those of runs before included."""
    seconds: Annotated[int, Field(ge=1)] | None = None
    """So many seconds of one run."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.cases is None and self.seconds is None:
            raise ValueError("give cases, seconds or both")
        return self


class LeftOut(_Settings):
    """Cases that are not made: a mutator at a field in some versions of an API."""

    api: str
    """By name."""
    versions: str
    """`4-12`, `9+` or `9`."""
    field: str
    """As reports of coverage name it: `topics[].name`; empty: the frame as a whole."""
    mutator: str
    """By name."""

    @field_validator("mutator")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        known: Known | None = info.context
        if known is not None and name not in known.mutators:
            raise ValueError(f"unknown: {name!r}{choices(name, known.mutators)}")
        return name

    @model_validator(mode="after")
    def _there(self) -> Self:
        version_range(_api(self.api), self.versions)
        return self


class Campaign(_Settings):
    """A campaign. Lists of names that are empty mean all."""

    version: Literal[1]
    """The version of this format."""
    about: str = ""
    """What it is for: nothing that happens depends on it."""
    target: Annotated[
        str,
        Field(min_length=1),
        BeforeValidator(_as_text, json_schema_input_type=str | ApacheSettings),
    ]
    """Who gets the cases: a kind, and behind a colon which one: `apache:3.9.1`, `address:127.0.0.1:9092`;
    with a login, `address:HOST:PORT?mechanism=PLAIN&username=NAME&password_file=FILE`. Two that are to agree:
    `apache:3.9.1 vs apache:4.3.1`. Or a mapping for Apache Kafka: `kind`, `version`, `listener`, `mechanism`,
    `jvm` and `settings`."""
    seed: int = 0
    """Another seed, other cases."""
    apis: Names = ()
    """By name. All if empty; of a broker's, those that clients send."""
    versions: dict[str, str] = {}
    """By API: `Fetch: 4-12`, `Metadata: 9+`, `Produce: "9"`. All if an API is not named."""
    budget: Budget
    """When it ends."""
    mutators: Names = ()
    """All if empty."""
    oracles: Names = ()
    """All that can judge the target if empty."""
    sessions: Names = ()
    """All if empty; `none` alone: every case opens its connection."""
    corpora: Names = ()
    """What mutations start from. All if empty."""
    captures: Names = ()
    """Files whose messages are valid ones to start from, too; beside the campaign's file."""
    frames: Names = ()
    """Files of frames to start from, too: a line of JSON each with `api`, `key`, `version`, `direction` and
    `hex`, the body; packed by gzip if the name ends in .gz. Beside the campaign's file."""
    without: Annotated[tuple[LeftOut, ...], Field(strict=False)] = ()
    """Cases that are not made: what stands behind a finding is seen without what makes that fire."""
    round: Annotated[int, Field(ge=1, le=10**7)] = 1000
    """Cases of a round: between two of them what reached something new gets more energy."""

    @field_validator("apis")
    @classmethod
    def _apis(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_api(name) for name in names)

    @field_validator("versions")
    @classmethod
    def _versions(cls, versions: dict[str, str]) -> dict[str, str]:
        found = {_api(name): text for name, text in versions.items()}
        for name, text in found.items():
            version_range(name, text)
        return found

    @field_validator("mutators", "oracles", "sessions", "corpora")
    @classmethod
    def _known(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        known: Known | None = info.context
        if known is not None and info.field_name is not None:
            there: tuple[str, ...] = getattr(known, info.field_name)
            if info.field_name == "sessions" and names == ("none",):
                return names
            for name in names:
                if name not in there:
                    raise ValueError(f"unknown: {name!r}{choices(name, there)}")
        return names

    @field_validator("target")
    @classmethod
    def _kind(cls, target: str, info: ValidationInfo) -> str:
        known: Known | None = info.context
        kinds = known.targets if known is not None else ()
        for side in sides(target) if kinds else ():
            kind, _, which = side.partition(":")
            if kind not in kinds:
                raise ValueError(f"unknown kind {kind!r}{choices(kind, kinds)}")
            if which:
                try:
                    if is_apache(side):
                        ApacheSettings.of(which)
                    elif is_address(side):
                        address_of(which)
                except Misuse as problem:
                    raise ValueError(str(problem)) from None
        return target

    def settings(self) -> dict[str, Any]:
        """All that the cases depend on, and what is looked for: not how many there are."""
        return self.model_dump(mode="json", exclude={"about", "budget", "target"})

    def left_out(self, mutator: str) -> dict[tuple[int, str], list[range]]:
        """An API's key and a field -> the versions in which the mutator of a name is not put to it."""
        found: dict[tuple[int, str], list[range]] = {}
        for one in self.without:
            if one.mutator == mutator:
                versions = version_range(_api(one.api), one.versions)
                found.setdefault((key_of(one.api), one.field), []).append(versions)
        return found

    def wants(self, seed: Seed) -> bool:
        """Whether a message of a corpus is one to start from."""
        name = NAMES.get(seed.key)
        if name is None or (self.apis and name not in self.apis):
            return False
        text = self.versions.get(name)
        return text is None or seed.version in version_range(name, text)


def _api(name: str) -> str:
    try:
        return NAMES[key_of(name)]
    except LookupError as problem:
        raise ValueError(str(problem.args[0])) from None


def version_range(name: str, text: str) -> range:
    """The versions of an API that a text names. Raises ValueError.

    >>> version_range("Fetch", "4-12"), version_range("StopReplica", "2+"), version_range("Produce", "9")
    (range(4, 13), range(2, 5), range(9, 10))
    """
    first, last = api(name).versions
    parts = _RANGE.fullmatch(text.strip())
    if parts is None:
        raise ValueError(f"{name}: {text!r} is not a version or range such as 9, 4-12 or 9+")
    low = int(parts[1])
    high = last if parts[2] else int(parts[3] or parts[1])
    if not first <= low <= high <= last:
        raise ValueError(f"{name}: versions {text} are not among {first}-{last}")
    return range(low, high + 1)


def chosen(names: Iterable[str], things: Iterable[Any]) -> tuple[Any, ...]:
    """Those of these names (an attribute of theirs), in their own order; all if no name is given."""
    wanted = frozenset(names)
    return tuple(thing for thing in things if not wanted or thing.name in wanted)

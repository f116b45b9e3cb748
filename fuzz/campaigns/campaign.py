"""The format of a campaign: the target, the sources of cases, their number, and the oracles."""

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
from barnabas.fuzz.targets.address import address_of, is_address
from barnabas.fuzz.targets.apache_settings import ApacheSettings, in_words, is_apache
from barnabas.fuzz.targets.registry import sides
from barnabas.nearest import choices
from barnabas.specs.registry import NAMES, api, key_of

Names = Annotated[tuple[str, ...], Field(strict=False)]

_RANGE: Final = re.compile(r"(\d{1,5})(?:(\+)|-(\d{1,5}))?")


def _as_text(target: object) -> object:
    """Return a target as text; a file may have it as a mapping."""
    if not isinstance(target, Mapping):
        return target
    try:
        return ApacheSettings.model_validate(target).text
    except ValidationError as error:
        raise ValueError(in_words(error)) from None


class KnownNames(NamedTuple):
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
    """The end of a campaign: the limit that is reached first. At least one is given."""

    cases: Annotated[int, Field(ge=1, le=10**12)] | None = None
    """The number of cases in all, including those of earlier runs."""
    seconds: Annotated[int, Field(ge=1)] | None = None
    """The seconds of one run."""

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
    """The field as coverage reports name it: `topics[].name`; empty: the whole frame."""
    mutator: str
    """By name."""

    @field_validator("mutator")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        known_names: KnownNames | None = info.context
        if known_names is not None and name not in known_names.mutators:
            raise ValueError(f"unknown: {name!r}{choices(name, known_names.mutators)}")
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
    """A description, without an effect."""
    target: Annotated[
        str,
        Field(min_length=1),
        BeforeValidator(_as_text, json_schema_input_type=str | ApacheSettings),
    ]
    """The target: a kind, and after a colon its name: `apache:3.9.1`, `address:127.0.0.1:9092`; with a login,
    `address:HOST:PORT?mechanism=PLAIN&username=NAME&password_file=FILE`. Two targets that are compared:
    `apache:3.9.1 vs apache:4.3.1`. Or a mapping for Apache Kafka: `kind`, `version`, `listener`, `mechanism`,
    `jvm` and `settings`."""
    seed: int = 0
    """The seed of all cases: another seed gives other cases."""
    apis: Names = ()
    """APIs by name. All if empty; for a broker, all that clients send."""
    versions: dict[str, str] = {}
    """By API: `Fetch: 4-12`, `Metadata: 9+`, `Produce: "9"`. All if an API is not named."""
    budget: Budget
    """The end of the campaign."""
    mutators: Names = ()
    """All if empty."""
    oracles: Names = ()
    """All that can judge the target if empty."""
    sessions: Names = ()
    """All if empty; `none` alone: every case is the first request of its connection."""
    corpora: Names = ()
    """The sources of messages that mutations start from. All if empty."""
    captures: Names = ()
    """Capture files whose messages are start messages, too; paths relative to the campaign's file."""
    frames: Names = ()
    """Files of frames that are start messages, too: a line of JSON each with `api`, `key`, `version`,
    `direction` and `hex`, the body; gzipped if the name ends in .gz. Paths are relative to the campaign's
    file."""
    without: Annotated[tuple[LeftOut, ...], Field(strict=False)] = ()
    """Cases that are not made, so that a known crash does not hide bugs in code after it."""
    round: Annotated[int, Field(ge=1, le=10**7)] = 1000
    """The cases of a round. Between two rounds, seeds that reached something new get more energy."""

    @field_validator("apis")
    @classmethod
    def _apis(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_api(name) for name in names)

    @field_validator("versions")
    @classmethod
    def _versions(cls, versions: dict[str, str]) -> dict[str, str]:
        by_api = {_api(name): text for name, text in versions.items()}
        for name, text in by_api.items():
            version_range(name, text)
        return by_api

    @field_validator("mutators", "oracles", "sessions", "corpora")
    @classmethod
    def _known(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        known_names: KnownNames | None = info.context
        if known_names is not None and info.field_name is not None:
            allowed: tuple[str, ...] = getattr(known_names, info.field_name)
            if info.field_name == "sessions" and names == ("none",):
                return names
            for name in names:
                if name not in allowed:
                    raise ValueError(f"unknown: {name!r}{choices(name, allowed)}")
        return names

    @field_validator("target")
    @classmethod
    def _kind(cls, target: str, info: ValidationInfo) -> str:
        known_names: KnownNames | None = info.context
        kinds = known_names.targets if known_names is not None else ()
        for side in sides(target) if kinds else ():
            kind, _, text_after_colon = side.partition(":")
            if kind not in kinds:
                if kind == "embedded":
                    raise ValueError("embedded is now librdkafka")
                raise ValueError(f"unknown kind {kind!r}{choices(kind, kinds)}")
            if text_after_colon:
                try:
                    if is_apache(side):
                        ApacheSettings.of(text_after_colon)
                    elif is_address(side):
                        address_of(text_after_colon)
                except Misuse as problem:
                    raise ValueError(str(problem)) from None
        return target

    def settings(self) -> dict[str, Any]:
        """Return all settings that cases and oracles depend on; the number of cases is not among them."""
        return self.model_dump(mode="json", exclude={"about", "budget", "target"})

    def left_out(self, mutator: str) -> dict[tuple[int, str], list[range]]:
        """Return (API key, field) -> the versions in which a mutator is not applied to the field."""
        exclusions: dict[tuple[int, str], list[range]] = {}
        for exclusion in self.without:
            if exclusion.mutator == mutator:
                versions = version_range(_api(exclusion.api), exclusion.versions)
                exclusions.setdefault((key_of(exclusion.api), exclusion.field), []).append(versions)
        return exclusions

    def wants(self, seed: Seed) -> bool:
        """Return whether a message of a corpus is one to start from."""
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
    """Return the versions of an API that a text names. Raises ValueError.

    >>> version_range("Fetch", "4-12"), version_range("StopReplica", "2+"), version_range("Produce", "9")
    (range(4, 13), range(2, 5), range(9, 10))
    """
    first, last = api(name).versions
    parts = _RANGE.fullmatch(text.strip())
    if parts is None:
        raise ValueError(f"{name}: {text!r} is not a version or range such as 9, 4-12 or 9+")
    low = int(parts[1])
    high = last if parts[2] else int(parts[3] or parts[1])
    if low > high:
        raise ValueError(f"{name}: {text} goes from a newer version to an older one")
    if not first <= low or high > last:
        raise ValueError(f"{name}: versions {text} are not among {first}-{last}")
    return range(low, high + 1)


def chosen(names: Iterable[str], things: Iterable[Any]) -> tuple[Any, ...]:
    """Return the things with these names (their attribute `name`), in their own order.

    All things if no name is given.
    """
    requested = frozenset(names)
    return tuple(thing for thing in things if not requested or thing.name in requested)

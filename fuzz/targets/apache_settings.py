"""How a broker of Apache Kafka is started for a campaign: version, listener, settings, options of its JVM.

A campaign's file has it as a mapping, and everything else as text in which it looks like the query of a URL:
`apache:4.3.1?listener=sasl_plaintext&message.max.bytes=1000`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import parse_qsl, quote, urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from barnabas.fuzz.errors import Misuse
from barnabas.nearest import choices
from barnabas.peers.replay.authentication import MECHANISMS

KIND: Final = "apache"

Listener = Literal["plaintext", "sasl_plaintext"]

_READABLE: Final = "/:,;=@$()*!{}[]|\"'"
"""What stands in the text as it is; a space does not, so that ` vs ` is between two targets only."""


class ApacheSettings(BaseModel):
    """A broker of Apache Kafka that is started for a campaign."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )

    kind: Literal["apache"] = KIND
    """The only kind that takes settings."""
    version: Annotated[str, Field(min_length=1)]
    """Of Kafka: `4.3.1`."""
    listener: Listener = "plaintext"
    """What cases are sent to. Connections to `sasl_plaintext` log in first."""
    mechanism: str = "PLAIN"
    """How they log in: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."""
    jvm: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Options of its JVM: `-Xmx512m`."""
    settings: dict[str, str] = {}
    """Lines of its server.properties; an empty value takes one out."""

    @field_validator("mechanism")
    @classmethod
    def _mechanism(cls, name: str) -> str:
        if name not in MECHANISMS:
            raise ValueError(f"unknown mechanism {name!r}{choices(name, MECHANISMS)}")
        return name

    @model_validator(mode="after")
    def _used(self) -> Self:
        if not self.on_sasl and self.mechanism != "PLAIN":
            raise ValueError("mechanism is for listener sasl_plaintext")
        return self

    @field_validator("settings", mode="before")
    @classmethod
    def _plain(cls, found: object) -> object:
        """Numbers and truth values of YAML, as Kafka writes them."""
        if not isinstance(found, Mapping):
            return found
        return {
            name: str(value).lower() if isinstance(value, bool | int | float) else value
            for name, value in found.items()
        }

    @classmethod
    def of(cls, text: str) -> Self:
        """Of the text behind the colon of a target. Raises Misuse."""
        version, asks, query = text.partition("?")
        try:
            pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if asks else []
        except ValueError:
            raise Misuse(
                f"{KIND}:{text}: NAME=VALUE, separated by &, is expected behind ?"
            ) from None
        return cls._made(
            {
                "version": version,
                **{name: value for name, value in pairs if name in _NAMED},
                "jvm": tuple(value for name, value in pairs if name == "jvm"),
                "settings": {n: v for n, v in pairs if n not in _NAMED and n != "jvm"},
            }
        )

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """With other values; settings and options of the JVM are added to what there is. Raises Misuse."""
        found = {**self.model_dump(), **changes}
        found["jvm"] = (*self.jvm, *changes.get("jvm", ()))
        found["settings"] = {**self.settings, **changes.get("settings", {})}
        return self._made(found)

    @classmethod
    def _made(cls, values: Mapping[str, Any]) -> Self:
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise Misuse(f"{KIND}: {in_words(error)}") from None

    @property
    def on_sasl(self) -> bool:
        """Whether connections log in first."""
        return self.listener == "sasl_plaintext"

    @property
    def options(self) -> str:
        """All but the version, as text; what is as usual is left out."""
        usual = type(self).model_fields
        pairs = [
            (name, value)
            for name in _NAMED
            if (value := getattr(self, name)) != usual[name].default
        ]
        pairs += [("jvm", one) for one in self.jvm]
        pairs += sorted(self.settings.items())
        return urlencode(pairs, safe=_READABLE, quote_via=quote)

    @property
    def text(self) -> str:
        """The target as text.

        >>> ApacheSettings.of("4.3.1?jvm=-Xmx1g&a.b=1 %26").text
        'apache:4.3.1?jvm=-Xmx1g&a.b=1%20%26'
        """
        return f"{KIND}:{self.version}{'?' if self.options else ''}{self.options}"


_NAMED: Final = ("listener", "mechanism")
"""What a text has that is no setting of the broker, beside `jvm`: no version has settings of these names."""


def in_words(error: ValidationError) -> str:
    """The first problem, in a line."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return f"unknown key {place!r}{choices(place, tuple(ApacheSettings.model_fields))}"
    said = str(first.get("ctx", {}).get("error", first["msg"]))
    return f"{place}: {said}" if place else said


def is_apache(target: str) -> bool:
    """Whether a target's text names this kind."""
    return target.partition(":")[0] == KIND

"""The settings of an Apache Kafka broker that a campaign starts: version, listener, properties, JVM options.

In a campaign's file they are a mapping, elsewhere a text like the query of a URL:
`apache:4.3.1?listener=sasl_plaintext&message.max.bytes=1000`. Brokers accept any property and ignore most
that they do not have, so `unknown` compares each with the release's list.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import parse_qsl, quote, urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from barnabas.fuzz.errors import Misuse
from barnabas.nearest import choices, did_you_mean, nearest
from barnabas.peers.replay.authentication import MECHANISMS

KIND: Final = "apache"

Listener = Literal["plaintext", "sasl_plaintext"]

_READABLE: Final = "/:,;=@$()*!{}[]|\"'"
"""Characters that are not escaped in the text. A space is, so that ` vs ` only stands between two targets."""


class ApacheSettings(BaseModel):
    """A broker of Apache Kafka that is started for a campaign."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )

    kind: Literal["apache"] = KIND
    """The only kind that takes settings."""
    version: Annotated[str, Field(min_length=1)]
    """The version of Kafka: `4.3.1`."""
    listener: Listener = "plaintext"
    """The listener of cases. Connections to `sasl_plaintext` log in first."""
    mechanism: str = "PLAIN"
    """The mechanism of the login: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."""
    jvm: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Options of the JVM: `-Xmx512m`."""
    settings: dict[str, str] = {}
    """Lines of server.properties; an empty value removes a line."""

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
    def _plain(cls, settings: object) -> object:
        """Convert YAML's numbers and booleans to text as Kafka writes them."""
        if not isinstance(settings, Mapping):
            return settings
        return {
            name: str(value).lower() if isinstance(value, bool | int | float) else value
            for name, value in settings.items()
        }

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse the text after the colon of a target. Raises Misuse."""
        version, has_query, query = text.partition("?")
        try:
            pairs = (
                parse_qsl(query, keep_blank_values=True, strict_parsing=True) if has_query else []
            )
        except ValueError:
            raise Misuse(
                f"{KIND}:{text}: NAME=VALUE, separated by &, is expected after ?"
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
        """Return the settings with other values. Raises Misuse.

        `settings` and `jvm` are added to the present ones.
        """
        values = {**self.model_dump(), **changes}
        values["jvm"] = (*self.jvm, *changes.get("jvm", ()))
        values["settings"] = {**self.settings, **changes.get("settings", {})}
        return self._made(values)

    @classmethod
    def _made(cls, values: Mapping[str, Any]) -> Self:
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise Misuse(f"{KIND}: {in_words(error)}") from None

    @property
    def on_sasl(self) -> bool:
        """Return whether connections log in first."""
        return self.listener == "sasl_plaintext"

    @property
    def options(self) -> str:
        """Return everything but the version as text, without defaults."""
        fields = type(self).model_fields
        pairs = [
            (name, value)
            for name in _NAMED
            if (value := getattr(self, name)) != fields[name].default
        ]
        pairs += [("jvm", option) for option in self.jvm]
        pairs += sorted(self.settings.items())
        return urlencode(pairs, safe=_READABLE, quote_via=quote)

    @property
    def text(self) -> str:
        """Return the target as text.

        >>> ApacheSettings.of("4.3.1?jvm=-Xmx1g&a.b=1 %26").text
        'apache:4.3.1?jvm=-Xmx1g&a.b=1%20%26'
        """
        return f"{KIND}:{self.version}{'?' if self.options else ''}{self.options}"


_NAMED: Final = ("listener", "mechanism")
"""Names in the text that are no broker settings, in addition to `jvm`; no version has settings of these
names."""


def in_words(error: ValidationError) -> str:
    """Return the first validation error as one line."""
    first = error.errors(include_url=False)[0]
    key_path = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return f"unknown key {key_path!r}{choices(key_path, tuple(ApacheSettings.model_fields))}"
    message = str(first.get("ctx", {}).get("error", first["msg"]))
    return f"{key_path}: {message}" if key_path else message


def is_apache(target: str) -> bool:
    """Return whether a target's text names this kind."""
    return target.partition(":")[0] == KIND


_SLIP: Final = 0.9
"""Minimal likeness of an unknown setting to a known one that counts as a slip: plugins have settings, too."""

_NEAR: Final = 0.75
"""Minimal likeness of a setting that is suggested: names of settings share words."""

_CLASS: Final = re.compile(r"(?:\w+\.)+[A-Z]\w*")
"""A name of a Java class, which is the value of a plugin's setting."""

_LISTENERS: Final = "listener.name."
"""The prefix of settings of one listener (KIP-103, KIP-226)."""

_PLUGIN: Final = "; settings of a plugin are accepted with its class"


def unknown(settings: Mapping[str, str], known_names: Collection[str]) -> str:
    """Return a message about the first unknown setting; "" if there is none.

    Settings of a listener pass. If a plugin is configured, so does a name that may be the plugin's.
    known_names: empty if the release's settings are unknown.

    >>> unknown({"num.io.thread": "4"}, ["num.io.threads"])
    "no setting 'num.io.thread'; did you mean 'num.io.threads'?"
    >>> unknown({"x": "y"}, ["num.io.threads"])
    "no setting 'x'; settings of a plugin are accepted with its class"
    >>> unknown({"x": "y", "authorizer.class.name": "org.Mine"}, ["authorizer.class.name"])
    ''
    """
    plugin = any(
        name in known_names and _CLASS.fullmatch(value) for name, value in settings.items()
    )
    for name in settings if known_names else ():
        if name in known_names or name.startswith(_LISTENERS):
            continue
        if not plugin or nearest(name, known_names, _SLIP) is not None:
            hint = did_you_mean(name, known_names) if nearest(name, known_names, _NEAR) else _PLUGIN
            return f"no setting {name!r}{hint}"
    return ""

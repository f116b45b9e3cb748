"""A request and its response as tests see them: the columns of `--log json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

Row = Mapping[str, Any]
"""A line of the JSON log."""

TOPIC: Final = frozenset(("topic", "topic_name", "topic_names", "subscribed_topic_names"))
"""Fields that name a topic in any structure."""

OF_TOPICS: Final = frozenset(
    (
        "topics",
        "topic_data",
        "topic_results",
        "v3_and_below_topics",
        "results_by_topic_v3_and_below",
    )
)
"""Arrays whose elements have a topic's name as `name`."""

RESPONSES_OF_TOPICS: Final = {0: "responses", 20: "responses", 37: "results", 45: "responses"}
"""Arrays of responses whose elements have a topic's name as `name`, by API key."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Exchange:
    """A request and its response; `barnabas.captures.kafka.columns.COLUMNS` describes the columns."""

    ts: str
    """The time at which the request arrived: ISO 8601 in UTC."""
    connection: int
    client_address: str
    client_id: str | None
    user: str | None
    """The user that was authenticated when the request arrived; None: nobody, or unknown."""
    broker: int | None
    """Node id; None while it is unknown."""
    api: str
    key: int
    version: int
    correlation_id: int
    request_size: int
    response_size: int | None
    latency_ms: float | None
    """The latency that the client saw; None: it got no response."""
    broker_ms: float | None
    error: str | None
    """Name of the first error in the response; empty: no error; None: unknown."""
    rules: tuple[str, ...]
    """Names of the rules that fired on the request or the response."""
    request: Mapping[str, Any] | None
    """The decoded body, with Kafka's field names in snake_case."""
    response: Mapping[str, Any] | None
    beside: Row = field(default_factory=dict)
    """The other values of the line: `inside`, `context`, `sasl`, `payload`."""

    @classmethod
    def of(cls, row: Row) -> Self:
        """Make an exchange of a line of the log."""
        columns = {name: row[name] for name in COLUMNS}
        beside = {name: value for name, value in row.items() if name not in columns}
        return cls(**{**columns, "rules": tuple(dict.fromkeys(row["rules"])), "beside": beside})

    @property
    def answered(self) -> bool:
        """Return whether the client got a response."""
        return self.latency_ms is not None

    @property
    def topics(self) -> frozenset[str]:
        """Return the topics that the request or the response names."""
        named = (self.beside.get("context") or {}).get("topics") or {}
        return frozenset(
            (
                *_topics(self.request),
                *_topics(self.response, RESPONSES_OF_TOPICS.get(self.key)),
                *filter(None, named.values()),
            )
        )

    def __str__(self) -> str:
        broker = "-" if self.broker is None else f"b{self.broker}"
        words = [self.ts[11:23], self.client_id or self.client_address, broker]
        words += [f"{self.api} v{self.version}", self.error or ""]
        words.append("no response" if self.latency_ms is None else f"{self.latency_ms:.2f} ms")
        words += [f"⟵ {', '.join(self.rules)}"] if self.rules else []
        return " ".join(word for word in words if word)

    def __repr__(self) -> str:
        return f"<{self}>"


COLUMNS: Final = tuple(column.name for column in fields(Exchange) if column.name != "beside")


def _topics(body: Any, responses: str | None = None, inside: str = "") -> Iterator[str]:
    """Yield the topics that a decoded body names. inside: The field that contains the value."""
    if isinstance(body, Mapping):
        of_topics = inside in OF_TOPICS or (inside and inside == responses)
        for name, value in body.items():
            if isinstance(value, str):
                if name in TOPIC or (name == "name" and of_topics):
                    yield value
            elif isinstance(value, Mapping | list):
                yield from _topics(value, responses, name)
    elif isinstance(body, list):
        for element in body:
            if isinstance(element, str):
                if inside in TOPIC:
                    yield element
            else:
                yield from _topics(element, responses, inside)

"""A request and what came of it, as a test looks at it: the columns of `--log json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

Row = Mapping[str, Any]
"""A line of the JSON log."""

TOPIC: Final = frozenset(("topic", "topic_name", "topic_names", "subscribed_topic_names"))
"""Fields that name a topic wherever they stand."""

OF_TOPICS: Final = frozenset(
    (
        "topics",
        "topic_data",
        "topic_results",
        "v3_and_below_topics",
        "results_by_topic_v3_and_below",
    )
)
"""Arrays whose elements' `name` is a topic's."""

RESPONSES_OF_TOPICS: Final = {0: "responses", 20: "responses", 37: "results", 45: "responses"}
"""API key -> an array of its response whose elements' `name` is a topic's."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Exchange:
    """One request and its response; `barnabas.captures.kafka.columns.COLUMNS` says what each column is."""

    ts: str
    """When the request arrived: ISO 8601 in UTC."""
    connection: int
    client_address: str
    client_id: str | None
    user: str | None
    """Who was authenticated when the request came; None: nobody, or nobody knows."""
    broker: int | None
    """Node id; None while it is not known."""
    api: str
    key: int
    version: int
    correlation_id: int
    request_size: int
    response_size: int | None
    latency_ms: float | None
    """As the client saw it; None: it got no response."""
    broker_ms: float | None
    error: str | None
    """Name of the first error in the response; empty: none; None: not known."""
    rules: tuple[str, ...]
    """Names of the rules that fired on either."""
    request: Mapping[str, Any] | None
    """The decoded body, in Kafka's field names in snake_case."""
    response: Mapping[str, Any] | None
    beside: Row = field(default_factory=dict)
    """What else the line says: `inside`, `context`, `sasl`, `payload`."""

    @classmethod
    def of(cls, row: Row) -> Self:
        """The exchange that a line of the log is about."""
        columns = {name: row[name] for name in COLUMNS}
        beside = {name: value for name, value in row.items() if name not in columns}
        return cls(**{**columns, "rules": tuple(dict.fromkeys(row["rules"])), "beside": beside})

    @property
    def answered(self) -> bool:
        """Whether the client got a response."""
        return self.latency_ms is not None

    @property
    def topics(self) -> frozenset[str]:
        """The topics that the request or the response names."""
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
    """Every topic that a decoded body names. `inside`: the field that an element is from."""
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

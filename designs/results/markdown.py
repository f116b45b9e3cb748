"""The parts of a result in Markdown: paragraphs, lists, tables and diagrams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from barnabas.designs.results.diagram import Step, sequence


def counts(numbers: Mapping[str, int], nothing: str = "") -> str:
    """Write how often each name occurs, sorted by name; nothing: the text for no names.

    >>> counts({"b": 1, "a": 2}), counts({}, "no error")
    ('a: 2, b: 1', 'no error')
    """
    return ", ".join(f"{name}: {count}" for name, count in sorted(numbers.items())) or nothing


def table(heads: str, rows: Iterable[Iterable[object]]) -> str:
    """Write a table. heads: the columns' titles with ` | ` between them.

    >>> print(table("arm | runs", [("a", 1)]))
    | arm | runs |
    |---|---|
    | a | 1 |
    """
    cells = (
        (f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in row) for row in rows
    )
    lines = [f"| {line} |" for line in (heads, *map(" | ".join, cells))]
    return "\n".join([lines[0], "|" + "---|" * (heads.count(" | ") + 1), *lines[1:]])


def bullets(items: Iterable[str]) -> str:
    """Write a list, with an item on each line."""
    return "\n".join(f"- {item}" for item in items)


def capitalized(text: str) -> str:
    """Return a text with a capital at its beginning, and all else unchanged."""
    return text[:1].upper() + text[1:]


def paragraphs(*parts: str) -> str:
    """Join paragraphs, without the empty ones, into a text that ends with a line break."""
    return "\n\n".join(filter(None, parts)) + "\n"


def mermaid(diagram: str) -> str:
    """Write a diagram as Markdown."""
    return f"```mermaid\n{diagram}\n```"


def sequences(drawn: Mapping[str, Iterable[Step]]) -> str:
    """Write sequence diagrams, each below a heading with its name."""
    return "\n\n".join(f"### {name}\n\n{mermaid(sequence(steps))}" for name, steps in drawn.items())

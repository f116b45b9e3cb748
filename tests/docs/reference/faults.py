"""The page of faults: what each does, its settings; acks=0, order of responses, requests in flight."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Final

from barnabas.proxy.effects import EFFECTS
from barnabas.proxy.error_responses.reach import is_read, nameable
from barnabas.proxy.faults import FAULTS
from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.matching.contents import has_errors
from barnabas.proxy.matching.notation import range_text
from barnabas.proxy.matching.scope import KINDS, Only
from barnabas.specs import REGISTRY, api
from barnabas.specs.message import Api
from tests.docs.reference.markdown import code, page, prose, settings, table

_SAYS: Final = re.compile(r"^(acks=0|Order|In flight): ", re.M)
"""How the sentences begin that every fault's file has below its description."""


def said(name: str) -> tuple[str, dict[str, str]]:
    """What a fault does in its file's first sentences, and what it says of acks=0, order and in flight."""
    text = inspect.cleandoc(importlib.import_module(f"barnabas.proxy.faults.{name}").__doc__ or "")
    first, *parts = _SAYS.split(text)
    return _sentence(first.partition(": ")[2]), dict(zip(parts[::2], parts[1::2], strict=True))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _only() -> Iterator[str]:
    """The sections about the entries that `respond` refuses."""
    yield "### respond: only"
    yield prose(Only.__doc__)
    yield settings(Only.model_json_schema())
    yield "### Entries that only can name"
    yield (
        "The broker gets the other entries of a write, and reads whole. A cell has the versions in which an "
        "entry of the request, or of a read's response, is identified by such a thing and has an error of "
        "its own. Where the request itself is of one group or producer, `only` refuses the whole request."
    )
    head = ("API", "kind", *(code(kind) for kind in KINDS))
    yield table(head, (row for key, *_ in REGISTRY if any((row := _nameable(api(key)))[2:])))


def _nameable(declared: Api) -> tuple[str, ...]:
    """The row of an API: the versions in which `only` can name each kind of thing."""
    first, last = declared.versions
    kind = "read" if is_read(declared.key) else "write"
    cells = []
    for each in KINDS:
        some = [
            version
            for version in range(first, last + 1)
            if has_errors(declared.key, "response", version)
            and each in nameable(declared.key, version)
        ]
        cells.append(range_text(some[0], some[-1], last) if some else "")
        assert not some or some == list(range(some[0], some[-1] + 1)), (declared.name, each)
    return (declared.name, kind, *cells)


def faults() -> str:
    """The page."""
    head = ("fault", "acks=0", "order of responses", "in flight")
    rows, sections = [], []
    for name, model, *_ in FAULTS:
        does, facts = said(name)
        sections += [f"## {name}", prose(does), settings(model.model_json_schema())]
        if model is Respond:
            sections += list(_only())
        rows.append(
            (
                f"[`{name}`](#{name})",
                *(prose(facts[key]).rstrip(".") for key in ("acks=0", "Order", "In flight")),
            )
        )
    return page(
        "Faults",
        "A rule's `do` names one fault or several: see [Rules](rules.md). If a fault does not apply to a "
        "message, the message is forwarded unchanged; the proxy counts this, reports it on stderr and notes "
        "it in the capture.",
        "The table says what each fault does to a Produce request with acks=0, which no broker answers, to "
        "the order of responses, and when a request counts as in flight.",
        table(head, rows),
        *sections,
        "## Effects",
        "What a fault of your own may return, from `barnabas.proxy.effects`; times are in ns.",
        table(
            ("effect", "settings", "what the proxy does"),
            (
                (code(one.__name__), ", ".join(map(code, one._fields)), prose(one.__doc__))
                for one in EFFECTS
            ),
        ),
    )

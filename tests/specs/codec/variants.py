"""Bodies as VARIANT and back, by somebody else's reading."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql.types import VariantVal

from barnabas.specs.codec.variant import Path, metadata, names, variant_writer
from barnabas.specs.jsonform import Blob, base64_text
from barnabas.specs.layout import Layout


def as_variant(
    layout: Layout,
    body: dict[str, Any],
    known: dict[uuid.UUID, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    named: Sequence[tuple[Path, str, str]] = (),
    blob: Blob = base64_text,
) -> Any:
    """Return a body that was written as VARIANT and read by Spark's own code."""
    dictionary, more = sorted(names(layout, named)), list[str]()
    write = variant_writer(layout, "it", dictionary, secrets or {}, named, blob)
    value = write(body, known or {}, more)
    return json.loads(VariantVal(value, metadata([*dictionary, *more])).toJson())


def finite(value: Any) -> Any:
    """Return a JSON form with text in the place of numbers that JSON lacks."""
    match value:
        case dict():
            return {name: finite(inner) for name, inner in value.items()}
        case list():
            return [finite(item) for item in value]
        case float() if not math.isfinite(value):
            return str(value)
    return value

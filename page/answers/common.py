"""Types that several responses use."""

from __future__ import annotations

from typing import Any, Literal

Json = Any
Side = Literal["request", "response"]

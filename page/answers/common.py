"""What several answers have in common."""

from __future__ import annotations

from typing import Any, Literal

Json = Any
Side = Literal["request", "response"]

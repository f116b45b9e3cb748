"""What the mutators of delivery and order share: they leave the message as it is."""

from __future__ import annotations

from barnabas.fuzz.frame_map.fields import FieldMap


def framed(frame: bytes) -> bytes:
    """A frame with its size in front."""
    return len(frame).to_bytes(4, "big") + frame


def own(fieldmap: FieldMap) -> bytes:
    """The message as it would be sent."""
    return framed(fieldmap.seed.frame)

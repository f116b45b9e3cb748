"""Designs of consumer coordination that never shipped, in the idiom of `barnabas.specs.declaration`.

Each has one module. What no document gives is a reconstruction and marked as one, field by field.
"""

from barnabas.specs.drafts.frames import DraftFrame, decode_frame, encode_frame
from barnabas.specs.drafts.idiom import Draft, DraftApi, DraftError, Role
from barnabas.specs.drafts.registry import DRAFTS, draft

__all__ = [
    "DRAFTS",
    "Draft",
    "DraftApi",
    "DraftError",
    "DraftFrame",
    "Role",
    "decode_frame",
    "draft",
    "encode_frame",
]

"""Frames cut out of streams (`stream_framing`), also behind a gap (`frame_resync`), protocol detection."""

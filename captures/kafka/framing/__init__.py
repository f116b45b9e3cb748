"""Cut frames out of streams (`stream_framing`), also after gaps (`frame_resync`); detect protocols."""

"""Campaigns in words: of a database, without a terminal."""

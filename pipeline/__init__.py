"""Captures at scale: tables, analyses and a report, on Spark."""

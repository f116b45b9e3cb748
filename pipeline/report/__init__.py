"""The report: one HTML file with plots, tables and plain words, that opens without a network."""

"""The file of campaigns: cases, findings and their evidence, written and read."""

"""The database of campaigns: cases, findings and their evidence."""

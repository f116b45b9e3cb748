"""The engine of a campaign: from a number to a case, an observation and a verdict; also in shards."""

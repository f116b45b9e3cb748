"""The messages of the consumer rewrite: three drafts, and the version whose layouts reached 0.8.2."""

"""The obsolete consumer rewrite of 0.9, running: its coordinator and its consumer (document 000).

Layouts are those of the draft rewrite-0.8.2; Metadata v0 and OffsetFetch v1 are Kafka's own. The coordinator
(`coordinator`, `group`) and the consumer (`consumer`) have no sockets and no clock; `server` and `client` run
them on asyncio. The steps are in `barnabas.designs.consumer_rewrite.states`. decisions.md in the folder above
has what the document leaves open, and its contradictions.
"""

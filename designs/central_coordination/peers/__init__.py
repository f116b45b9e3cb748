"""Central consumer coordination in 0.7's format, running (document 001): the coordinator sends requests.

Layouts are those of the draft central-coordination. The coordinator (`coordinator`, `group`) and the consumer
(`consumer`) have no sockets and no clock; `server` and `client` run them on asyncio. The steps are in
`barnabas.designs.central_coordination.states`. decisions.md in the folder above has what the document leaves
open.
"""

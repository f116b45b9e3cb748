"""Central consumer coordination in 0.7's format, running (document 001): the coordinator asks.

Layouts are those of the draft central-coordination. The coordinator (`coordinator`, `group`) and the
consumer (`consumer`) have no sockets and no clock; `server` and `client` run them on asyncio. The steps
are in `barnabas.designs.central_coordination.states`.

What the document leaves open, and what is done here:

- A change while the rebalance bit is set asks for nothing. So that it is not lost, a rebalance that is
  over looks whether consumers or partitions are others than those that it was about, and follows itself.
- Who registers while the others are stopped is stopped, too, and waited for: only it can say where it was.
  Who comes later, as behind a new coordinator those that noticed the death late, finds its partitions
  begun from what is stored; the rebalance that follows begins them where it was. What was read in between
  is read twice: the coordinator rebalances with the first that register, and waits for nobody.
- After FATAL nothing is asked of the group until something about it changes. Who was started already
  fetches on, the others stand still.
- Consumers that fail at the same moment cost a rebalance one of its retries, not one each.
- A connection that is closed is a failed consumer at once; pings are for those that are silent.
- After a round of known brokers none of which can be connected to a consumer logs the document's former
  AllKnownBrokersNotAvailable, and goes on with the first, without end.
- Who registers with a broker that does not coordinate gets Unknown and a closed connection.
- Nothing fences an old coordinator: until it knows that its session in the registry is over, consumers
  of two coordinators may own the same partition. There are no generations that would tell them apart. So
  one that loses its connection to ZooKeeper resigns at once, before its session can end; if the session
  survives it is elected again, and its consumers register anew. A process that stands still meanwhile
  learns it too late.
- Topics and partitions stand below /brokers/topics, a topic's partitions in its own entry. While they
  can't be read nobody new coordinates, and who does keeps to what it has read.
- `topic_count` is 0.7's: JSON of topic -> streams, `*2*regex` (whitelist) or `!2!regex` (blacklist).
- auto_offset_reset is the consumer's to follow, for offsets out of range and for none at all; the
  coordinator only looks whether it is one of the document's two.
- Offsets stand in the registry, an entry a group. With auto_commit the coordinator stores them when all
  have stopped, and at no other time. Without it the application writes them there (`offsets.store`), and
  the coordinator reads them: the document has no request for it.
- While a group's offsets are read or stored, only its rebalance waits, and what is behind it in its
  rebalance queue. Pings, requests and the rebalances of other queues go on.
- If they can't be read or stored, all connections of the group are closed, and what was told is lost: the
  group starts from the offsets that stand there.
- A request that a registered consumer sends, and an answer that nobody asked for, close the connection.
"""

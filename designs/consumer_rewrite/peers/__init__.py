"""The obsolete consumer rewrite of 0.9, running: its coordinator and its consumer (document 000).

Layouts are those of the draft rewrite-0.8.2; Metadata v0 and OffsetFetch v1 are Kafka's own. The
coordinator (`coordinator`, `group`) and the consumer (`consumer`) have no sockets and no clock;
`server` and `client` run them on asyncio. The steps are in `barnabas.designs.consumer_rewrite.states`.

Where the page contradicts itself, or says nothing, this is what is done here:

- A consumer that starts sends JoinGroup without an id (state diagram), not a heartbeat (section Consumer,
  2): it has no id yet. Heartbeats come first after a failover.
- A JoinGroup during catch-up gets IllegalProtocolState (failover, 1), not CoordinatorStartupNotComplete.
- A JoinGroup with an id that the group does not have gets UnknownConsumerId and causes no rebalance
  (consumer id assignment, 4); that failover's phase 2 counts it among the causes of one is overruled.
  The consumer then joins without an id, which does cause one.
- A consumer that was removed in a round, and whose JoinGroup comes before the round is over, takes part
  in the next one with its id, which follows at once (slow consumers, 6).
- One whose JoinGroup comes when the answers have left is unknown by then: it gets UnknownConsumerId, joins
  without an id, and the next rebalance follows. The page has the same end, without the detour.
- Which groups subscribe to a topic is asked of each group that is in memory: the second list, of groups
  by topic, would say the same.
- Who leads which slot: see `election`. The page's controller tells the brokers by UpdateMetadata, one after
  the other, so that one may answer ConsumerMetadata with who led before; a `Cluster` in one process tells
  all at once.
- A consumer that was told of a rebalance has one more session timeout to join. Heartbeats in place of a
  join do not prolong it.
- A session timeout below 1 ms gets Unknown: the page has a maximum only.
- What a coordinator writes depends on the version that it read, and a new one writes all its groups
  once before it serves: so one that was demoted and does not know it can change nothing.
- A commit that is put off, or whose answer is lost, is asked again; other refused ones are not.
- A consumer's host name, which the page wants stored, is the address that its JoinGroup came from: the
  request has none. Behind a proxy it is the proxy's.
- A strategy of a user's that raises, or gives what is no assignment, costs that rebalance: the error is
  logged, a generation without consumers is written, and all that would be in it get Unknown, as the 0.8 guide
  calls an unexpected error. Who starts again joins as a new one.
- A consumer's id has 200 characters of the group's name at most, so that it fits a string.
- A group whose entry is none stays in catch up, and its entry as it is; the others are served. Topics that
  can't be read are read again, and those that are known stand.
- A broker that loses the registry is gone: the page has no error for it.
- A broker that ends itself leaves its elections, as ZooKeeper would have it leave them.
- Topics and their partitions stand in the registry below /brokers/topics; each broker watches them there.
- Committed offsets stand in the registry beside the group, for the lack of an offsets topic.
"""

// Workloads of KafkaJS' consumers, which call back from a loop of their own.
'use strict'

const { PendingRecords } = require('../members.cjs')
const { chunks, GaveUpError, NotOfferedError } = require('../work.cjs')
const { client, connected } = require('./producing.cjs')

const HEARTBEAT = 3000 // ms: the default interval, which must be below the session's timeout

// The settings of a consumer that KafkaJS has, by Kafka's names.
const SETTINGS = {
  'client.rack': rackId => ({ rackId }),
  'session.timeout.ms': sessionTimeout => ({ sessionTimeout, heartbeatInterval: Math.min(HEARTBEAT, Math.floor(sessionTimeout / 3)) }),
  'fetch.min.bytes': minBytes => ({ minBytes }),
  'fetch.max.wait.ms': maxWaitTimeInMs => ({ maxWaitTimeInMs }),
  'max.partition.fetch.bytes': maxBytesPerPartition => ({ maxBytesPerPartition })
}
const NOT_OFFERED = ['group.instance.id', 'group.protocol', 'partition.assignment.strategy']

function consumerSettings(settings) {
  if (NOT_OFFERED.some(name => name in settings)) throw new NotOfferedError()
  return Object.assign({}, ...Object.entries(settings).map(([name, value]) => SETTINGS[name]?.(value)))
}

// Return items with a topic as [{ topic, partitions }]. toPartition: returns the partition of an item, as KafkaJS takes it.
function byTopic(items, toPartition = ({ partition }) => partition) {
  const topics = new Map()
  for (const item of items) topics.set(item.topic, [...(topics.get(item.topic) ?? []), toPartition(item)])
  return Array.from(topics, ([topic, partitions]) => ({ topic, partitions }))
}

// Return the offsets after records as [{ topic, partition, offset }].
const offsetsAfter = records => records.map(({ topic, partition, offset }) => ({ topic, partition, offset: String(BigInt(offset) + 1n) }))

// Read and commit all records by the members of a group.
async function group(work) {
  await new PendingRecords(work).runMembers(member =>
    consume(member, (records, batch, consumer) => {
      const commit = async lastRecords => {
        batch.resolveOffset(records.at(-1).offset)
        const topics = byTopic(offsetsAfter(lastRecords), ({ partition, offset }) => ({ partition, offset }))
        await batch.commitOffsetsIfNecessary({ topics })
        return lastRecords
      }
      const { pause, rewind } = consumer
      return member.readAndCommit(records, { commit, heartbeat: batch.heartbeat, pause, rewind })
    })
  )
  return work.ids.length
}

// Run a member's consumer, and pass records to `handle`, some at a time, with their batch and the consumer. After an error of `handle`
// KafkaJS recovers, or the consumer crashes. Throws the error of a crash after which KafkaJS does not restart the consumer.
async function consume(member, handle) {
  const { errors, reader, work } = member
  if (member.options.pattern !== undefined) throw new NotOfferedError() // patterns do not match topics that are created later
  const kafka = client(work, reader.name)
  const consumer = kafka.consumer({ groupId: work.group, ...consumerSettings(member.options.settings) })
  const { COMMIT_OFFSETS, CRASH, FETCH_START, GROUP_JOIN } = consumer.events
  let paused = null
  consumer.on(GROUP_JOIN, ({ payload }) => {
    const topics = Object.entries(payload.memberAssignment)
    member.assigned(topics.flatMap(([topic, partitions]) => partitions.map(partition => ({ topic, partition }))))
  })
  consumer.on(COMMIT_OFFSETS, ({ payload }) => {
    for (const { topic, partitions } of payload.topics) {
      for (const { partition, offset } of partitions) work.committed(topic, partition, offset)
    }
  })
  consumer.on(CRASH, ({ payload }) => payload.restart || errors.push(payload.error))
  consumer.on(FETCH_START, () => {
    // a fetch of paused partitions only takes maxWaitTimeInMs
    if (paused === null || ++paused.fetches < 2) return
    consumer.resume(paused.topics)
    paused = null
  })

  function pause() {
    if (paused !== null) return
    paused = { topics: byTopic(member.partitions), fetches: 0 }
    consumer.pause(paused.topics)
  }

  async function rewind() {
    const isAssigned = (topic, partition) => member.partitions.some(each => each.topic === topic && each.partition === partition)
    await connected(work, kafka.admin(), async admin => {
      for (const { topic } of byTopic(member.partitions)) {
        // for several topics at once, an administrator without their metadata may request no partitions
        const fetched = await work.within('fetchOffsets', admin.fetchOffsets({ groupId: work.group, topics: [topic] }))
        for (const { partition, offset } of fetched.flatMap(({ partitions }) => partitions)) {
          if (!isAssigned(topic, partition)) continue
          consumer.seek({ topic, partition, offset: offset < 0 ? '0' : offset })
          reader.assigned(topic, partition)
        }
      }
    })
  }

  async function eachBatch(batch) {
    const { messages, partition, topic } = batch.batch
    for (const chunk of chunks(messages, work.atOnce)) {
      if (!batch.isRunning() || batch.isStale()) return
      const records = chunk.map(({ key, offset, value }) => ({ topic, partition, offset, key, value }))
      await member.poll(records, () => handle(records, batch, { pause, rewind, seek: consumer.seek }))
      await batch.heartbeat()
      if (paused !== null || member.leaving) return // the other records are fetched again
    }
  }

  // What is not committed may be read again: by another member, or after the workload.
  async function commitRemaining(records) {
    try {
      await work.within('commit', consumer.commitOffsets(offsetsAfter(records)))
      return records
    } catch (problem) {
      if (problem instanceof GaveUpError) throw problem
      return []
    }
  }

  await connected(work, consumer, async () => {
    await work.within('subscribe', consumer.subscribe({ topics: work.topics, fromBeginning: true }))
    await work.within('run', consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch }))
    await member.untilEnd(commitRemaining)
  })
}

module.exports = { consume, group, offsetsAfter }

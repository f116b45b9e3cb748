// Workloads of KafkaJS: those that read. Its consumers call back from a loop of their own.
'use strict'

const { chunks, Missing, Reader } = require('../work.cjs')
const { client, connected } = require('./producing.cjs')

// Read all records in a group, committing what was read.
async function group(work) {
  const missing = new Missing(work)
  await member(work, missing, new Reader(work, 'reader', { isolation: 'read_committed' }), async (found, batch) => {
    for (const one of found) missing.found(one.value)
    batch.resolveOffset(found.at(-1).offset)
    await batch.commitOffsetsIfNecessary(batch.uncommittedOffsets())
  })
  return work.ids.length
}

// Have records given to `each`, some at a time, with what belongs to their batch, and the consumer. What it throws KafkaJS gets over, or
// the consumer crashes. Throws the error that a consumer is not restarted after.
async function member(work, missing, reader, each) {
  const consumer = client(work, reader.name).consumer({ groupId: work.group })
  const failed = []
  const { COMMIT_OFFSETS, CRASH, GROUP_JOIN } = consumer.events
  consumer.on(GROUP_JOIN, ({ payload }) => {
    for (const [topic, partitions] of Object.entries(payload.memberAssignment)) {
      for (const partition of partitions) reader.got(topic, partition)
    }
  })
  consumer.on(COMMIT_OFFSETS, ({ payload }) => {
    for (const { topic, partitions } of payload.topics) {
      for (const { partition, offset } of partitions) work.committed(topic, partition, offset)
    }
  })
  consumer.on(CRASH, ({ payload }) => payload.restart || failed.push(payload.error))

  async function eachBatch(batch) {
    const { messages, partition, topic } = batch.batch
    for (const found of chunks(messages, work.atOnce)) {
      if (!batch.isRunning() || batch.isStale()) return
      for (const one of found) reader.consumed(topic, partition, one.offset, one.value)
      await each(found, batch, consumer, failed)
      await batch.heartbeat()
    }
  }

  await connected(work, consumer, async () => {
    await work.within('subscribe', consumer.subscribe({ topic: work.topic, fromBeginning: true }))
    await work.within('run', consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch }))
    await missing.over(failed)
  })
}

module.exports = { group, member }

// The workload of KafkaJS that reads, processes and writes, exactly once.
'use strict'

const { Missing, Reader } = require('../work.cjs')
const { commit, connected, transaction, transactional } = require('./producing.cjs')
const { member } = require('./reading.cjs')

// Copy records to another topic, each in the transaction that commits its offset.
async function readProcessWrite(work) {
  const missing = new Missing(work)
  const reader = new Reader(work, 'reader', { isolation: 'read_committed' })
  let number = 0
  await connected(work, transactional(work), producer =>
    member(work, missing, reader, async (found, batch, consumer, failed) => {
      const { partition, topic } = batch.batch
      const offset = String(BigInt(found.at(-1).offset) + 1n)
      const end = async (_, one, name) => {
        const offsets = { consumerGroupId: work.group, topics: [{ topic, partitions: [{ partition, offset }] }] }
        await work.within('offsets', one.sendOffsets(offsets))
        await commit(work, one, name)
      }
      const sends = work.copying(found.map(one => one.value))
      let copied
      try {
        copied = await transaction(work, producer, String(++number), sends, end)
      } catch (problem) {
        failed.push(problem) // its loop would only call again
        throw problem
      }
      if (copied) {
        work.committed(topic, partition, offset)
        for (const one of found) missing.found(one.value)
        batch.resolveOffset(found.at(-1).offset)
      } else {
        consumer.seek({ topic, partition, offset: found[0].offset }) // all before it is committed
        reader.got(topic, partition)
      }
    })
  )
  return work.ids.length
}

module.exports = { readProcessWrite }

// The workload of KafkaJS that reads, processes and writes, exactly once.
'use strict'

const { PendingRecords, recordId } = require('../members.cjs')
const { commit, connected, transaction, transactional } = require('./producing.cjs')
const { consume, offsetsAfter } = require('./reading.cjs')

// Copy records to another topic, each in the transaction that commits its offset.
async function readProcessWrite(work) {
  await new PendingRecords(work).runMembers(member =>
    connected(work, transactional(work, member.suffix), producer => copy(work, member, producer))
  )
  return work.ids.length
}

function copy(work, member, producer) {
  let number = 0
  return consume(member, async (records, batch, consumer) => {
    const [{ topic, partition, offset }] = offsetsAfter(records.slice(-1))
    const end = async (_, open, name) => {
      const offsets = { consumerGroupId: work.group, topics: [{ topic, partitions: [{ partition, offset }] }] }
      await work.within('offsets', open.sendOffsets(offsets))
      await commit(work, open, name)
    }
    const sends = work.copying(records.map(recordId))
    let copied
    try {
      copied = await transaction(work, producer, `${++number}${member.suffix}`, sends, end, `producer${member.suffix}`)
    } catch (problem) {
      member.errors.push(problem) // KafkaJS would only repeat the call
      throw problem
    }
    if (copied) {
      work.committed(topic, partition, offset)
      member.processed(records)
      batch.resolveOffset(records.at(-1).offset)
    } else {
      consumer.seek({ topic, partition, offset: records[0].offset }) // all offsets before it are committed
      member.reader.assigned(topic, partition)
    }
  })
}

module.exports = { readProcessWrite }

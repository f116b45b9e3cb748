// The workload of @platformatic/kafka that reads, processes and writes, exactly once.
'use strict'

const { lastOfPartitions, PendingRecords, recordId } = require('../members.cjs')
const { send, transacting, transaction } = require('./producing.cjs')
const { consume } = require('./reading.cjs')

// Copy records to another topic, each in the transaction that commits its offset.
async function readProcessWrite(work) {
  await new PendingRecords(work).runMembers(member => transacting(work, producer => copy(work, member, producer), member.suffix))
  return work.ids.length
}

function copy(work, member, producer) {
  let number = 0
  return consume(member, async (messages, consumer) => {
    const transactionName = `${++number}${member.suffix}`
    const copied = await transaction(work, producer, transactionName, async open => {
      await work.within('consumer', open.addConsumer(consumer))
      const rounds = [work.copying(messages.map(recordId))]
      await work.sendAll(records => send(open, records), { rounds, transaction: transactionName, name: `producer${member.suffix}` })
      for (const message of lastOfPartitions(messages)) await work.within('offset', open.addOffset(message))
      return true
    })
    if (!copied) return false
    for (const { topic, partition, offset } of lastOfPartitions(messages)) work.committed(topic, partition, offset + 1n)
    member.processed(messages)
    return true
  })
}

module.exports = { readProcessWrite }

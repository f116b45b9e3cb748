// The workload of @platformatic/kafka that reads, processes and writes, exactly once.
'use strict'

const { Missing } = require('../work.cjs')
const { send, transacting, transaction } = require('./producing.cjs')
const { ends, member, readerOf } = require('./reading.cjs')

// Copy records to another topic, each in the transaction that commits its offset.
async function readProcessWrite(work) {
  const missing = new Missing(work)
  let number = 0
  await transacting(work, producer =>
    member(work, missing, readerOf(work, 'reader'), {}, async (found, consumer) => {
      const name = String(++number)
      const copied = await transaction(work, producer, name, async one => {
        await work.within('consumer', one.addConsumer(consumer))
        await work.sendAll(records => send(one, records), [work.copying(found.map(each => each.value))], name)
        for (const [, , , last] of ends(found)) await work.within('offset', one.addOffset(last))
        return true
      })
      if (!copied) return false
      for (const [topic, partition, offset] of ends(found)) work.committed(topic, partition, offset)
      for (const each of found) missing.found(each.value)
      return true
    })
  )
  return work.ids.length
}

module.exports = { readProcessWrite }

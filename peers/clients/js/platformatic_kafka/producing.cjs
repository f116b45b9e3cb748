// Workloads of @platformatic/kafka: those that write.
'use strict'

const { Producer, stringSerializers } = require('@platformatic/kafka')
const { GaveUpError } = require('../work.cjs')

// Send a record; `sender` is a producer or a transaction.
async function send(work, sender, id, transaction, topic = work.topic) {
  work.sent(id, transaction, topic)
  const { offsets } = await sender.send({ messages: [{ topic, key: id, value: id }] })
  work.acknowledged(id, offsets[0].partition, offsets[0].offset, topic)
}

// Use a producer, and close it in the end.
function producing(work, own, use) {
  const about = { bootstrapBrokers: work.bootstrap, clientId: 'producer', serializers: stringSerializers }
  const producer = new Producer({ ...about, ...own })
  return work.using(
    () => use(producer),
    () => producer.close()
  )
}

const sendAll = (work, own, ids) => producing(work, own, producer => work.sendAll(id => send(work, producer, id), ids))

const produce = work => sendAll(work)
const idempotent = work => sendAll(work, { idempotent: true })

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

const compressed = work => work.coded(CODECS, (compression, ids) => sendAll(work, { compression }, ids))

const transacting = (work, use) => producing(work, { idempotent: true, transactionalId: work.group }, use)

const transact = work =>
  transacting(work, producer =>
    work.transactions((batch, name, aborts) =>
      transaction(work, producer, name, async one => {
        for (const id of batch) await work.within(id, send(work, one, id, name))
        return !aborts
      })
    )
  )

// Have `fill` do what is to be in a transaction; it says whether to commit it. False: it was aborted, as its documents say what to do with
// an error; it throws that error if it can't be aborted either.
async function transaction(work, producer, name, fill) {
  const one = await work.within('transaction', producer.beginTransaction())
  try {
    if (await fill(one)) {
      await work.within('commit', one.commit())
      work.ended(name, 'committed')
    } else {
      await work.within('abort', one.abort())
      work.ended(name, 'aborted')
    }
    return true
  } catch (problem) {
    if (problem instanceof GaveUpError) throw problem
    try {
      await work.within('abort', one.abort())
    } catch {
      throw problem
    }
    work.ended(name, 'aborted')
    return false
  }
}

module.exports = { compressed, idempotent, produce, send, transact, transacting, transaction }

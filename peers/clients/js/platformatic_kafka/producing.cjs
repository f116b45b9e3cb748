// Workloads of @platformatic/kafka: those that write.
'use strict'

const { Producer, stringSerializers } = require('@platformatic/kafka')
const { GaveUpError } = require('../work.cjs')

// Send records; `sender` is a producer or a transaction.
async function send(sender, records) {
  const messages = records.map(({ topic, message }) => ({
    ...message,
    topic,
    timestamp: message.timestamp === undefined ? undefined : BigInt(message.timestamp)
  }))
  return (await sender.send({ messages })).offsets
}

// Use a producer, and close it in the end.
function producing(work, own, use) {
  const about = { bootstrapBrokers: work.bootstrap, clientId: 'producer', serializers: stringSerializers }
  about.compression = work.settings['compression.type'] ?? 'none'
  about.maxInflights = work.settings['max.in.flight.requests.per.connection'] ?? 5
  const producer = new Producer({ ...about, ...own })
  return work.using(
    () => use(producer),
    () => producer.close()
  )
}

const sendAll = (work, own, rounds) => producing(work, own, producer => work.sendAll(records => send(producer, records), rounds))

const produce = work => sendAll(work)
const idempotent = work => sendAll(work, { idempotent: true })

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

const compressed = work => work.coded(CODECS, (compression, rounds) => sendAll(work, { compression }, rounds))

const transacting = (work, use) => producing(work, { idempotent: true, transactionalId: work.group }, use)

const transact = work =>
  transacting(work, producer =>
    work.transactions((sends, name, aborts) =>
      transaction(work, producer, name, async one => {
        await work.sendAll(records => send(one, records), [sends], name)
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

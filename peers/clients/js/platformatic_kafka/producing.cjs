// Workloads of @platformatic/kafka's producers.
'use strict'

const { Producer, stringSerializers } = require('@platformatic/kafka')
const { GaveUpError } = require('../work.cjs')

// Send records, and return their positions. sender: a producer or a transaction.
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
  const options = { bootstrapBrokers: work.bootstrap, clientId: 'producer', serializers: stringSerializers }
  options.compression = work.settings['compression.type'] ?? 'none'
  options.maxInflights = work.settings['max.in.flight.requests.per.connection'] ?? 5
  const producer = new Producer({ ...options, ...own })
  return work.using(
    () => use(producer),
    () => producer.close()
  )
}

const sendAll = (work, own, rounds) => producing(work, own, producer => work.sendAll(records => send(producer, records), { rounds }))

const produce = work => sendAll(work)
const idempotent = work => sendAll(work, { idempotent: true })

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

const compressed = work => work.withCompressions(CODECS, (compression, rounds) => sendAll(work, { compression }, rounds))

// Use a transactional producer. suffix: of its names.
const transacting = (work, use, suffix = '') =>
  producing(work, { clientId: `producer${suffix}`, idempotent: true, transactionalId: `${work.group}${suffix}` }, use)

const transact = work =>
  transacting(work, producer =>
    work.transactions((sends, name, aborts) =>
      transaction(work, producer, name, async open => {
        await work.sendAll(records => send(open, records), { rounds: [sends], transaction: name })
        return !aborts
      })
    )
  )

// Run a transaction. fill: sends its records, and returns whether to commit it. Returns false if it was aborted after an error, as the
// library documents it. Throws that error if the transaction can't be aborted either.
async function transaction(work, producer, name, fill) {
  const open = await work.within('transaction', producer.beginTransaction())
  try {
    if (await fill(open)) {
      await work.within('commit', open.commit())
      work.ended(name, 'committed')
    } else {
      await work.within('abort', open.abort())
      work.ended(name, 'aborted')
    }
    return true
  } catch (problem) {
    if (problem instanceof GaveUpError) throw problem
    try {
      await work.within('abort', open.abort())
    } catch {
      throw problem
    }
    work.ended(name, 'aborted')
    return false
  }
}

module.exports = { compressed, idempotent, produce, send, transact, transacting, transaction }

// Workloads of KafkaJS' producers.
'use strict'

const { CompressionTypes, Kafka } = require('kafkajs')
const { GaveUpError } = require('../work.cjs')

const client = (work, clientId) => new Kafka({ brokers: work.bootstrap, clientId })

// Send records, and return their positions. sender: a producer or a transaction.
async function send(sender, records, compression) {
  const topicMessages = [...new Set(records.map(({ topic }) => topic))].map(name => ({
    topic: name,
    messages: records.filter(({ topic }) => topic === name).map(({ message }) => message)
  }))
  const results = await sender.sendBatch({ compression, topicMessages })
  return results.map(({ partition, baseOffset }) => ({ partition, offset: baseOffset }))
}

// Connect a client, use it, and disconnect it in the end.
const connected = (work, connection, use) =>
  work.using(
    async () => {
      await work.within('connect', connection.connect())
      return use(connection)
    },
    () => connection.disconnect()
  )

// Compressions that KafkaJS has without other packages.
const CODECS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP }

// KafkaJS has no linger, and a send is a batch.
const producer = (work, own, name = 'producer') =>
  client(work, name).producer({ maxInFlightRequests: work.settings['max.in.flight.requests.per.connection'] ?? null, ...own })

const compression = work => CODECS[work.settings['compression.type']] ?? CompressionTypes.None

const sendAll = (work, own, codec = compression(work), rounds = work.rounds) =>
  connected(work, producer(work, own), sender => work.sendAll(records => send(sender, records, codec), { rounds }))

const produce = work => sendAll(work)
const idempotent = work => sendAll(work, { idempotent: true })

const compressed = work => work.withCompressions(Object.keys(CODECS), (codec, rounds) => sendAll(work, {}, CODECS[codec], rounds))

// Return a producer with the settings that KafkaJS documents for exactly once. suffix: of its names.
const transactional = (work, suffix = '') =>
  producer(work, { transactionalId: `${work.group}${suffix}`, maxInFlightRequests: 1, idempotent: true }, `producer${suffix}`)

const transact = work =>
  connected(work, transactional(work), producer =>
    work.transactions((sends, name, aborts) => transaction(work, producer, name, sends, aborts ? abort : commit))
  )

// Send records in a transaction, and end it. Returns false if it was aborted after an error, as KafkaJS documents it. Throws that error if
// the transaction can't be aborted either, as after a failed commit. producerName: as in `sendAll`.
async function transaction(work, producer, name, sends, end, producerName) {
  const open = await work.within('transaction', producer.transaction())
  try {
    const sending = { rounds: [sends], transaction: name, name: producerName }
    await work.sendAll(records => send(open, records, compression(work)), sending)
    await end(work, open, name)
    return true
  } catch (problem) {
    if (problem instanceof GaveUpError) throw problem
    try {
      await abort(work, open, name)
    } catch {
      throw problem
    }
    return false
  }
}

async function commit(work, open, name) {
  await work.within('commit', open.commit())
  work.ended(name, 'committed')
}

async function abort(work, open, name) {
  await work.within('abort', open.abort())
  work.ended(name, 'aborted')
}

module.exports = { client, commit, compressed, connected, idempotent, produce, transact, transaction, transactional }

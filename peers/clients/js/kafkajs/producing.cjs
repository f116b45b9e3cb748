// Workloads of KafkaJS: those that write.
'use strict'

const { CompressionTypes, Kafka } = require('kafkajs')
const { GaveUpError } = require('../work.cjs')

const client = (work, clientId) => new Kafka({ brokers: work.bootstrap, clientId })

// Send records; `sender` is a producer or a transaction.
async function send(sender, records, compression) {
  const topicMessages = [...new Set(records.map(({ topic }) => topic))].map(name => ({
    topic: name,
    messages: records.filter(({ topic }) => topic === name).map(({ message }) => message)
  }))
  const told = await sender.sendBatch({ compression, topicMessages })
  return told.map(({ partition, baseOffset }) => ({ partition, offset: baseOffset }))
}

// Connect a producer or an administrator, and disconnect it in the end.
const connected = (work, one, use) =>
  work.using(
    async () => {
      await work.within('connect', one.connect())
      return use(one)
    },
    () => one.disconnect()
  )

// For those that are not here it needs other packages.
const CODECS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP }

// It has no linger, and a send is a batch.
const producer = (work, own) =>
  client(work, 'producer').producer({ maxInFlightRequests: work.settings['max.in.flight.requests.per.connection'] ?? null, ...own })

const compression = work => CODECS[work.settings['compression.type']] ?? CompressionTypes.None

const sendAll = (work, own, codec = compression(work), rounds = work.rounds) =>
  connected(work, producer(work, own), one => work.sendAll(records => send(one, records, codec), rounds))

const produce = work => sendAll(work)
const idempotent = work => sendAll(work, { idempotent: true })

const compressed = work => work.coded(Object.keys(CODECS), (codec, rounds) => sendAll(work, {}, CODECS[codec], rounds))

// As its documents have it who want exactly once.
const transactional = work => producer(work, { transactionalId: work.group, maxInFlightRequests: 1, idempotent: true })

const transact = work =>
  connected(work, transactional(work), producer =>
    work.transactions((sends, name, aborts) => transaction(work, producer, name, sends, aborts ? abort : commit))
  )

// Send records in a transaction, and end it. False: it was aborted, as its documents say what to do with an error; it throws that error
// if it can't be aborted either, as none can whose commit has failed.
async function transaction(work, producer, name, sends, end) {
  const one = await work.within('transaction', producer.transaction())
  try {
    await work.sendAll(records => send(one, records, compression(work)), [sends], name)
    await end(work, one, name)
    return true
  } catch (problem) {
    if (problem instanceof GaveUpError) throw problem
    try {
      await abort(work, one, name)
    } catch {
      throw problem
    }
    return false
  }
}

async function commit(work, one, name) {
  await work.within('commit', one.commit())
  work.ended(name, 'committed')
}

async function abort(work, one, name) {
  await work.within('abort', one.abort())
  work.ended(name, 'aborted')
}

module.exports = { client, commit, compressed, connected, idempotent, produce, transact, transaction, transactional }

// Workloads of KafkaJS: those that write.
'use strict'

const { CompressionTypes, Kafka } = require('kafkajs')
const { GaveUpError } = require('../work.cjs')

const client = (work, clientId) => new Kafka({ brokers: work.bootstrap, clientId })

// Send a record: those that are to keep their order are waited for one by one; `sender` is a producer or a transaction.
async function send(work, sender, id, transaction, topic = work.topic, compression = CompressionTypes.None) {
  work.sent(id, transaction, topic)
  const [told] = await sender.send({ topic, compression, messages: [{ key: id, value: id }] })
  work.acknowledged(id, told.partition, told.baseOffset, topic)
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

const sendAll = (work, own) =>
  connected(work, client(work, 'producer').producer(own), producer => work.sendAll(id => send(work, producer, id)))

const produce = work => sendAll(work)
const idempotent = work => sendAll(work, { idempotent: true })

// For those that are not here it needs other packages.
const CODECS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP }

const compressed = work =>
  work.coded(Object.keys(CODECS), (codec, ids) =>
    connected(work, client(work, 'producer').producer(), producer =>
      work.sendAll(id => send(work, producer, id, undefined, work.topic, CODECS[codec]), ids)
    )
  )

// As its documents have it who want exactly once.
const transactional = work =>
  client(work, 'producer').producer({ transactionalId: work.group, maxInFlightRequests: 1, idempotent: true })

const transact = work =>
  connected(work, transactional(work), producer =>
    work.transactions((batch, name, aborts) => transaction(work, producer, name, batch, work.topic, aborts ? abort : commit))
  )

// Send records in a transaction, and end it. False: it was aborted, as its documents say what to do with an error; it throws that error
// if it can't be aborted either, as none can whose commit has failed.
async function transaction(work, producer, name, batch, topic, end) {
  const one = await work.within('transaction', producer.transaction())
  try {
    for (const id of batch) await work.within(id, send(work, one, id, name, topic))
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

// Workloads of @platformatic/kafka: those that read, each from a stream of its consumer.
'use strict'

const { once } = require('node:events')
const library = require('@platformatic/kafka')
const { GaveUpError, Missing, NotOfferedError, Reader } = require('../work.cjs')

// Read all records in a group, committing what was read.
async function group(work) {
  const missing = new Missing(work)
  await committing(work, missing, 'reader')
  return work.ids.length
}

// The same by two members, who keep what stays theirs in a rebalance.
async function cooperative(work) {
  if (!library.COOPERATIVE_STICKY_ASSIGNOR) throw new NotOfferedError()
  return twoMembers(work, { protocols: [{ name: library.COOPERATIVE_STICKY_ASSIGNOR, version: 1 }] })
}

// The same in a group of the protocol of KIP-848.
async function consumerProtocol(work) {
  if (!library.GroupProtocols) throw new NotOfferedError()
  return twoMembers(work, { groupProtocol: library.GroupProtocols.CONSUMER })
}

async function twoMembers(work, own) {
  const missing = new Missing(work)
  await missing.byTwo(name => committing(work, missing, name, own))
  return work.ids.length
}

function committing(work, missing, name, own) {
  return member(work, missing, readerOf(work, name), own, async found => {
    for (const one of found) missing.found(one.value)
    for (const [topic, partition, offset, one] of ends(found)) {
      try {
        await work.within('commit', one.commit())
      } catch (problem) {
        if (problem instanceof GaveUpError) throw problem
        continue // it was not committed: it may come again
      }
      work.committed(topic, partition, offset)
    }
    return true
  })
}

const readerOf = (work, name) => new Reader(work, name, { isolation: 'read_committed' })

// Topic, partition, the offset behind what came, and the last of it.
const ends = found =>
  Array.from(new Map(found.map(one => [one.partition, one])).values(), one => [one.topic, one.partition, one.offset + 1n, one])

// Have records given to `each`, some at a time, with the consumer; it says false if they are to be read again from what is committed.
// Throws what ends its stream.
async function member(work, missing, reader, own, each) {
  const about = { bootstrapBrokers: work.bootstrap, clientId: reader.name, groupId: work.group }
  const consumer = new library.Consumer({ ...about, ...own })
  const failed = []
  consumer.on('consumer:group:join', () => {
    for (const { topic, partitions } of consumer.assignments ?? []) {
      for (const partition of partitions) reader.got(topic, partition)
    }
  })

  // Until the stream ends, or what it gave is to be read again.
  async function follow(stream) {
    let found = []
    for await (const one of stream) {
      reader.consumed(one.topic, one.partition, one.offset, one.value)
      found.push(one)
      if (found.length < work.atOnce && stream.readableLength) continue
      if (!(await each(found, consumer))) return
      found = []
    }
  }

  async function read() {
    while (!consumer.closed) {
      const wanted = { topics: [work.topic], mode: 'committed', fallbackMode: 'earliest', autocommit: false }
      const stream = await work.within('consume', consumer.consume(wanted))
      await follow(stream)
      if (!stream.closed) await once(stream, 'close')
    }
  }

  await work.using(
    async () => {
      read().catch(problem => failed.push(problem))
      await missing.over(failed)
    },
    () => consumer.close(true)
  )
}

module.exports = { consumerProtocol, cooperative, ends, group, member, readerOf }

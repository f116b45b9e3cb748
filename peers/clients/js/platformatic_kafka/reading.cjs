// Workloads of @platformatic/kafka's consumers, which read from a stream.
'use strict'

const library = require('@platformatic/kafka')
const { PendingRecords } = require('../members.cjs')
const { GaveUpError, NotOfferedError, sleep } = require('../work.cjs')

const HEARTBEAT = 3000 // ms: the default interval, which must be below the session's timeout
const PAUSE = 0.2 // s: a stream has no polls

const classic = settings => settings['group.protocol'] !== 'consumer'
const offered = (isOffered, options) => {
  if (!isOffered) throw new NotOfferedError()
  return options
}

// The settings of a consumer that the library has, by Kafka's names.
const SETTINGS = {
  'client.rack': clientRack => offered(library.baseOptionsSchema?.properties.clientRack, { clientRack }),
  'group.instance.id': groupInstanceId => offered(library.groupOptionsProperties?.groupInstanceId, { groupInstanceId }),
  'group.protocol': groupProtocol => offered(library.GroupProtocols, { groupProtocol }),
  'partition.assignment.strategy': name =>
    offered(library.COOPERATIVE_STICKY_ASSIGNOR === name, { protocols: [{ name, version: 1 }] }),
  'session.timeout.ms': (sessionTimeout, settings) =>
    classic(settings) && { sessionTimeout, heartbeatInterval: Math.min(HEARTBEAT, sessionTimeout / 3) },
  'fetch.min.bytes': minBytes => ({ minBytes }),
  'fetch.max.wait.ms': maxWaitTime => ({ maxWaitTime }),
  'max.partition.fetch.bytes': maxBytesPerPartition => ({ maxBytesPerPartition })
}

const consumerSettings = settings =>
  Object.assign({}, ...Object.entries(settings).map(([name, value]) => SETTINGS[name]?.(value, settings)))

// Read and commit all records by the members of a group.
async function group(work) {
  await new PendingRecords(work).runMembers(member =>
    consume(member, (records, _, pause) =>
      member.readAndCommit(records, {
        commit: lastRecords => commit(work, lastRecords),
        rewind: () => {}, // a new stream begins at the committed offsets
        pause
      })
    )
  )
  return work.ids.length
}

// Commit the offsets after messages, and return the messages for which it succeeded. The others may be read again.
async function commit(work, messages) {
  const committed = []
  for (const message of messages) {
    try {
      await work.within('commit', message.commit())
    } catch (problem) {
      if (problem instanceof GaveUpError) throw problem
      continue
    }
    work.committed(message.topic, message.partition, message.offset + 1n)
    committed.push(message)
  }
  return committed
}

// Run a member's consumer, and pass messages to `handle`, some at a time, with the consumer and a function that pauses it; `handle` returns
// false if they are to be read again, from the committed offsets. Throws the error that ends its stream.
async function consume(member, handle) {
  const { errors, reader, work } = member
  if (member.options.pattern !== undefined) throw new NotOfferedError()
  const base = { bootstrapBrokers: work.bootstrap, clientId: reader.name, groupId: work.group }
  const consumer = new library.Consumer({ ...base, ...consumerSettings(member.options.settings) })
  consumer.on('consumer:group:join', () => {
    const topics = consumer.assignments ?? []
    member.assigned(topics.flatMap(({ topic, partitions }) => partitions.map(partition => ({ topic, partition }))))
  })

  // Return when the stream ends, or its messages are to be read again.
  async function follow(stream) {
    const pause = async () => {
      stream.pause()
      await sleep(PAUSE)
      stream.resume()
    }
    let messages = []
    for await (const message of stream.iterator({ destroyOnReturn: false })) {
      messages.push(message)
      if (messages.length < work.atOnce && stream.readableLength) continue
      if (!(await member.poll(messages, () => handle(messages, consumer, pause)))) return
      messages = []
    }
  }

  async function read() {
    while (!consumer.closed && !member.leaving) {
      const options = { topics: work.topics, mode: 'committed', fallbackMode: 'earliest', autocommit: false }
      const stream = await work.within('consume', consumer.consume(options))
      await follow(stream)
      if (!member.leaving) await work.within('close', stream.close())
    }
  }

  await work.using(
    async () => {
      read().catch(problem => errors.push(problem))
      await member.untilEnd(messages => commit(work, messages))
    },
    () => consumer.close(true)
  )
}

module.exports = { consume, group }

// Sessions of KafkaJS. Its consumers always join a group.
'use strict'

const { Kafka, KafkaJSError, logLevel, PartitionAssigners } = require('kafkajs')

const TIMEOUT = 700 // ms

function client(session, own) {
  return new Kafka({
    brokers: session.bootstrap,
    clientId: 'barnabas',
    connectionTimeout: TIMEOUT,
    requestTimeout: TIMEOUT,
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 5, maxRetryTime: 20, retries: 2 },
    ...own
  })
}

// Connect a producer, a consumer or an administrator, and disconnect it in the end.
async function connected(one, use) {
  try {
    await one.connect()
    await use(one)
  } finally {
    await one.disconnect()
  }
}

// KafkaJS's one assignor, by the name of the protocol in the bench's responses.
const range = config => ({ ...PartitionAssigners.roundRobin(config), name: 'range' })

async function readWith(session, readUncommitted, own) {
  const consumer = client(session, own).consumer({
    groupId: session.group,
    heartbeatInterval: 100,
    maxWaitTimeInMs: 20,
    partitionAssigners: [range],
    readUncommitted,
    rebalanceTimeout: TIMEOUT,
    sessionTimeout: TIMEOUT
  })
  consumer.on(consumer.events.CRASH, ({ payload }) => session.crashed.push(payload.error))
  await connected(consumer, async () => {
    await consumer.subscribe({ topic: session.topic, fromBeginning: true })
    const eachMessage = async ({ message, partition }) => {
      const headers = Object.entries(message.headers ?? {}).flatMap(([name, values]) =>
        [values].flat().map(value => [name, value])
      )
      session.deliver(partition, message.offset, message.timestamp, message.key, message.value, headers)
    }
    await consumer.run({ autoCommit: false, eachMessage })
    await session.read()
    const offsets = [{ topic: session.topic, partition: 0, offset: '3' }]
    await session.within(() => consumer.commitOffsets(offsets))
  })
}

const group = session => readWith(session, true)
const readCommitted = session => readWith(session, false)
const sasl = session => readWith(session, true, { sasl: { mechanism: 'plain', username: 'barnabas', password: 'secret' } })

const messages = [{ value: 'value-0' }, { value: 'value-1' }, { value: 'value-2' }]

const produce = session =>
  connected(client(session).producer({ idempotent: true }), producer =>
    producer.send({ topic: session.topic, messages, timeout: TIMEOUT })
  )

function transaction(session) {
  const settings = { transactionalId: 'bench-txn', idempotent: true, maxInFlightRequests: 1, transactionTimeout: 1000 }
  return connected(client(session).producer(settings), async producer => {
    const one = await producer.transaction()
    await one.send({ topic: session.topic, messages })
    const topics = [{ topic: session.topic, partitions: [{ partition: 0, offset: '3' }] }]
    await one.sendOffsets({ consumerGroupId: session.group, topics })
    await one.commit()
  })
}

function admin(session) {
  const { group: groupId, topic } = session
  return connected(client(session).admin(), one =>
    session.each([
      () => one.listTopics(),
      () => one.fetchTopicMetadata({ topics: [topic] }),
      () => one.describeCluster(),
      () => one.listGroups(),
      () => one.describeGroups([groupId]),
      () => one.fetchOffsets({ groupId, topics: [topic] }),
      () => one.fetchTopicOffsets(topic),
      () => one.fetchTopicOffsetsByTimestamp(topic, 0),
      () => one.describeConfigs({ includeSynonyms: true, resources: [{ type: 2, name: topic }] }),
      () => one.describeAcls({ resourceType: 2, resourceName: topic, resourcePatternType: 3, operation: 2, permissionType: 3 }),
      () => one.listPartitionReassignments({}),
      () => one.createTopics({ topics: [{ topic: 'other', numPartitions: 1, replicationFactor: 1 }], waitForLeaders: false }),
      () => one.createPartitions({ topicPartitions: [{ topic, count: 3 }] }),
      () => one.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '1' }] }),
      () => one.deleteGroups([groupId]),
      () => one.deleteTopics({ topics: ['other'] })
    ])
  )
}

module.exports = {
  documented: [KafkaJSError], // kafka.js.org: errors derive from it
  sessions: { admin, consume: group, group, produce, 'read-committed': readCommitted, sasl, transaction }
}

// Sessions of KafkaJS. Its consumers always join a group.
'use strict'

const { Kafka, KafkaJSError, logLevel, PartitionAssigners } = require('kafkajs')

const TIMEOUT = 700 // ms

function newClient(session, own) {
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
async function connected(connection, use) {
  try {
    await connection.connect()
    await use(connection)
  } finally {
    await connection.disconnect()
  }
}

// The assignor of KafkaJS, by the name of the protocol in the bench's responses.
const range = config => ({ ...PartitionAssigners.roundRobin(config), name: 'range' })

async function readWith(session, readUncommitted, own) {
  const consumer = newClient(session, own).consumer({
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
  connected(newClient(session).producer({ idempotent: true }), producer =>
    producer.send({ topic: session.topic, messages, timeout: TIMEOUT })
  )

function transaction(session) {
  const settings = { transactionalId: 'bench-txn', idempotent: true, maxInFlightRequests: 1, transactionTimeout: 1000 }
  return connected(newClient(session).producer(settings), async producer => {
    const open = await producer.transaction()
    await open.send({ topic: session.topic, messages })
    const topics = [{ topic: session.topic, partitions: [{ partition: 0, offset: '3' }] }]
    await open.sendOffsets({ consumerGroupId: session.group, topics })
    await open.commit()
  })
}

function admin(session) {
  const { group: groupId, topic } = session
  return connected(newClient(session).admin(), client =>
    session.each([
      () => client.listTopics(),
      () => client.fetchTopicMetadata({ topics: [topic] }),
      () => client.describeCluster(),
      () => client.listGroups(),
      () => client.describeGroups([groupId]),
      () => client.fetchOffsets({ groupId, topics: [topic] }),
      () => client.fetchTopicOffsets(topic),
      () => client.fetchTopicOffsetsByTimestamp(topic, 0),
      () => client.describeConfigs({ includeSynonyms: true, resources: [{ type: 2, name: topic }] }),
      () => client.describeAcls({ resourceType: 2, resourceName: topic, resourcePatternType: 3, operation: 2, permissionType: 3 }),
      () => client.listPartitionReassignments({}),
      () => client.createTopics({ topics: [{ topic: 'other', numPartitions: 1, replicationFactor: 1 }], waitForLeaders: false }),
      () => client.createPartitions({ topicPartitions: [{ topic, count: 3 }] }),
      () => client.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '1' }] }),
      () => client.deleteGroups([groupId]),
      () => client.deleteTopics({ topics: ['other'] })
    ])
  )
}

module.exports = {
  documented: [KafkaJSError], // kafka.js.org: errors derive from it
  sessions: { admin, consume: group, group, produce, 'read-committed': readCommitted, sasl, transaction }
}

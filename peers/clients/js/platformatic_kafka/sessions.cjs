// Sessions of @platformatic/kafka. Its consumers always join a group.
'use strict'

const library = require('@platformatic/kafka')

const TIMEOUT = 700 // ms

const common = (session, own) => ({
  bootstrapBrokers: session.bootstrap,
  clientId: 'barnabas',
  connectTimeout: TIMEOUT,
  requestTimeout: TIMEOUT,
  timeout: TIMEOUT,
  retries: 2,
  retryDelay: 5,
  ...own
})

// Use a client, and close it in the end.
async function closing(client, use, ...options) {
  try {
    await use(client)
  } finally {
    await client.close(...options)
  }
}

const GROUP = { heartbeatInterval: 100, rebalanceTimeout: TIMEOUT, sessionTimeout: TIMEOUT }

function readWith(session, own) {
  const settings = { groupId: session.group, maxWaitTime: 20, minBytes: 1, ...(own.groupProtocol ? {} : GROUP), ...own }
  const use = async consumer => {
    const stream = await consumer.consume({ topics: [session.topic], mode: 'earliest', autocommit: false })
    let last
    stream.on('error', problem => session.crashed.push(problem))
    stream.on('data', message => {
      last = message
      session.deliver(message.partition, message.offset, message.timestamp, message.key, message.value, [...message.headers])
    })
    await session.read()
    if (last) await session.within(() => last.commit())
  }
  return closing(new library.Consumer(common(session, settings)), use, true)
}

const { READ_COMMITTED, READ_UNCOMMITTED } = library.FetchIsolationLevels

const group = session => readWith(session, { isolationLevel: READ_UNCOMMITTED })
const readCommitted = session => readWith(session, { isolationLevel: READ_COMMITTED })
const sasl = session => readWith(session, { sasl: { mechanism: 'PLAIN', username: 'barnabas', password: 'secret' } })

async function cooperative(session) {
  const name = library.COOPERATIVE_STICKY_ASSIGNOR
  if (name) await readWith(session, { protocols: [{ name, version: 1 }] })
}

async function consumerProtocol(session) {
  if (library.GroupProtocols) await readWith(session, { groupProtocol: library.GroupProtocols.CONSUMER })
}

const messages = topic => [0, 1, 2].map(number => ({ topic, partition: number % 2, value: `value-${number}` }))

const producing = (session, own, use) =>
  closing(new library.Producer(common(session, { serializers: library.stringSerializers, ...own })), use)

const produce = session =>
  producing(session, { idempotent: true }, producer => producer.send({ messages: messages(session.topic), acks: -1 }))

const transaction = session =>
  producing(session, { idempotent: true, transactionalId: 'bench-txn' }, async producer => {
    const open = await producer.beginTransaction()
    await open.send({ messages: messages(session.topic) })
    await open.commit()
  })

function admin(session) {
  const { group, topic } = session
  return closing(new library.Admin(common(session)), client =>
    session.each([
      () => client.listTopics(),
      () => client.metadata({ topics: [topic], forceUpdate: true }),
      () => client.listGroups(),
      () => client.describeGroups({ groups: [group], includeAuthorizedOperations: true }),
      () => client.findCoordinator({ keyType: 0, keys: [group] }),
      () => client.listConsumerGroupOffsets({ groups: [group] }),
      () => client.listOffsets({ topics: [{ name: topic, partitions: [{ partitionIndex: 0, timestamp: -1n }] }] }),
      () => client.describeConfigs({ resources: [{ resourceType: 2, resourceName: topic }] }),
      () => client.describeLogDirs({ topics: [{ name: topic, partitions: [0] }] }),
      () => client.describeClientQuotas({ components: [{ entityType: 'client-id', matchType: 2 }] }),
      () => client.createTopics({ topics: ['other'], partitions: 1, replicas: 1 }),
      () => client.createPartitions({ topics: [{ name: topic, count: 3, assignments: null }] }),
      () => client.deleteRecords({ topics: [{ name: topic, partitions: [{ partition: 0, offset: 1n }] }] }),
      () => client.deleteGroups({ groups: [group] }),
      () => client.deleteTopics({ topics: ['other'] })
    ])
  )
}

module.exports = {
  documented: [library.GenericError, library.MultipleErrors], // its documents, "Errors": others derive from these
  sessions: {
    admin,
    consume: group,
    'consumer-protocol': consumerProtocol,
    cooperative,
    group,
    produce,
    'read-committed': readCommitted,
    sasl,
    transaction
  }
}

// The workload of @platformatic/kafka's administrator.
'use strict'

const { Admin, ConfigResourceTypes, IncrementalAlterConfigOperationTypes, UserError } = require('@platformatic/kafka')
const { NotOfferedError } = require('../work.cjs')

// Create, change and delete topics, and wait until each step is visible.
async function admin(work) {
  const client = new Admin({ bootstrapBrokers: work.bootstrap, clientId: 'admin' })
  if (!client.createPartitions || !client.incrementalAlterConfigs) throw new NotOfferedError()
  await work.using(
    async () => {
      for (let number = 0; number < work.adminTopics; number++) await round(work, client, `${work.topic}-admin-${number}`)
    },
    () => client.close()
  )
}

async function round(work, client, topic) {
  const resource = { resourceType: ConfigResourceTypes.TOPIC, resourceName: topic }
  const entry = { name: 'retention.ms', value: '3600000' }

  async function partitions() {
    if (!(await client.listTopics()).includes(topic)) return 0
    try {
      return (await client.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic).partitionsCount
    } catch (problem) {
      if (problem instanceof UserError || problem.findBy?.('apiId', 'UNKNOWN_TOPIC_OR_PARTITION')) return 0
      throw problem
    }
  }

  async function isChanged() {
    const [{ configs }] = await client.describeConfigs({ resources: [{ ...resource, configurationKeys: [entry.name] }] })
    return configs[0].value === entry.value
  }

  await work.within('createTopics', client.createTopics({ topics: [topic], partitions: 2, replicas: 1 }))
  await work.waitUntilVisible(`${topic} with 2 partitions`, async () => (await partitions()) === 2)
  await work.within('createPartitions', client.createPartitions({ topics: [{ name: topic, count: 3, assignments: null }] }))
  await work.waitUntilVisible(`${topic} with 3 partitions`, async () => (await partitions()) === 3)
  const change = { ...entry, configOperation: IncrementalAlterConfigOperationTypes.SET }
  await work.within('incrementalAlterConfigs', client.incrementalAlterConfigs({ resources: [{ ...resource, configs: [change] }] }))
  await work.waitUntilVisible(`retention.ms of ${topic}`, isChanged)
  await work.within('deleteTopics', client.deleteTopics({ topics: [topic] }))
  await work.waitUntilVisible(`${topic} gone`, async () => (await partitions()) === 0)
}

module.exports = { admin }

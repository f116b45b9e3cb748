// The workload of @platformatic/kafka's administrator.
'use strict'

const { Admin, ConfigResourceTypes, IncrementalAlterConfigOperationTypes, UserError } = require('@platformatic/kafka')
const { NotOfferedError } = require('../work.cjs')

// Make topics, change them, and delete them, each seen before the next step.
async function admin(work) {
  const one = new Admin({ bootstrapBrokers: work.bootstrap, clientId: 'admin' })
  if (!one.createPartitions || !one.incrementalAlterConfigs) throw new NotOfferedError()
  await work.using(
    async () => {
      for (let number = 0; number < work.adminTopics; number++) await round(work, one, `${work.topic}-admin-${number}`)
    },
    () => one.close()
  )
}

async function round(work, one, topic) {
  const resource = { resourceType: ConfigResourceTypes.TOPIC, resourceName: topic }
  const entry = { name: 'retention.ms', value: '3600000' }

  async function partitions() {
    if (!(await one.listTopics()).includes(topic)) return 0
    try {
      return (await one.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic).partitionsCount
    } catch (problem) {
      if (problem instanceof UserError || problem.findBy?.('apiId', 'UNKNOWN_TOPIC_OR_PARTITION')) return 0
      throw problem
    }
  }

  async function kept() {
    const [{ configs }] = await one.describeConfigs({ resources: [{ ...resource, configurationKeys: [entry.name] }] })
    return configs[0].value === entry.value
  }

  await work.within('createTopics', one.createTopics({ topics: [topic], partitions: 2, replicas: 1 }))
  await work.shown(`${topic} with 2 partitions`, async () => (await partitions()) === 2)
  await work.within('createPartitions', one.createPartitions({ topics: [{ name: topic, count: 3, assignments: null }] }))
  await work.shown(`${topic} with 3 partitions`, async () => (await partitions()) === 3)
  const change = { ...entry, configOperation: IncrementalAlterConfigOperationTypes.SET }
  await work.within('incrementalAlterConfigs', one.incrementalAlterConfigs({ resources: [{ ...resource, configs: [change] }] }))
  await work.shown(`retention.ms of ${topic}`, kept)
  await work.within('deleteTopics', one.deleteTopics({ topics: [topic] }))
  await work.shown(`${topic} gone`, async () => (await partitions()) === 0)
}

module.exports = { admin }

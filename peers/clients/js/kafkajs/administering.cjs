// The workload of KafkaJS' administrator.
'use strict'

const { ConfigResourceTypes } = require('kafkajs')
const { client: newClient, connected } = require('./producing.cjs')

// Create, change and delete topics, and wait until each step is visible.
const admin = work =>
  connected(work, newClient(work, 'admin').admin(), async client => {
    for (let number = 0; number < work.adminTopics; number++) await round(work, client, `${work.topic}-admin-${number}`)
  })

async function round(work, client, topic) {
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic }

  async function partitions() {
    if (!(await client.listTopics()).includes(topic)) return 0
    try {
      return (await client.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions.length
    } catch (problem) {
      if (problem.type === 'UNKNOWN_TOPIC_OR_PARTITION') return 0
      throw problem
    }
  }

  async function isChanged() {
    const { resources } = await client.describeConfigs({ includeSynonyms: false, resources: [resource] })
    return resources[0].configEntries.find(entry => entry.configName === 'retention.ms').configValue === '3600000'
  }

  const newTopic = { topic, numPartitions: 2, replicationFactor: 1 }
  await work.within('createTopics', client.createTopics({ topics: [newTopic], waitForLeaders: false }))
  await work.waitUntilVisible(`${topic} with 2 partitions`, async () => (await partitions()) === 2)
  await work.within('createPartitions', client.createPartitions({ topicPartitions: [{ topic, count: 3 }] }))
  await work.waitUntilVisible(`${topic} with 3 partitions`, async () => (await partitions()) === 3)
  const change = { ...resource, configEntries: [{ name: 'retention.ms', value: '3600000' }] }
  await work.within('alterConfigs', client.alterConfigs({ validateOnly: false, resources: [change] }))
  await work.waitUntilVisible(`retention.ms of ${topic}`, isChanged)
  await work.within('deleteTopics', client.deleteTopics({ topics: [topic] }))
  await work.waitUntilVisible(`${topic} gone`, async () => (await partitions()) === 0)
}

module.exports = { admin }

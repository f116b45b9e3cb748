// The workload of KafkaJS' administrator.
'use strict'

const { ConfigResourceTypes } = require('kafkajs')
const { client, connected } = require('./producing.cjs')

// Make topics, change them, and delete them, each seen before the next step.
const admin = work =>
  connected(work, client(work, 'admin').admin(), async one => {
    for (let number = 0; number < work.adminTopics; number++) await round(work, one, `${work.topic}-admin-${number}`)
  })

async function round(work, one, topic) {
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic }

  async function partitions() {
    if (!(await one.listTopics()).includes(topic)) return 0
    try {
      return (await one.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions.length
    } catch (problem) {
      if (problem.type === 'UNKNOWN_TOPIC_OR_PARTITION') return 0
      throw problem
    }
  }

  async function kept() {
    const { resources } = await one.describeConfigs({ includeSynonyms: false, resources: [resource] })
    return resources[0].configEntries.find(entry => entry.configName === 'retention.ms').configValue === '3600000'
  }

  const made = { topic, numPartitions: 2, replicationFactor: 1 }
  await work.within('createTopics', one.createTopics({ topics: [made], waitForLeaders: false }))
  await work.shown(`${topic} with 2 partitions`, async () => (await partitions()) === 2)
  await work.within('createPartitions', one.createPartitions({ topicPartitions: [{ topic, count: 3 }] }))
  await work.shown(`${topic} with 3 partitions`, async () => (await partitions()) === 3)
  const changed = { ...resource, configEntries: [{ name: 'retention.ms', value: '3600000' }] }
  await work.within('alterConfigs', one.alterConfigs({ validateOnly: false, resources: [changed] }))
  await work.shown(`retention.ms of ${topic}`, kept)
  await work.within('deleteTopics', one.deleteTopics({ topics: [topic] }))
  await work.shown(`${topic} gone`, async () => (await partitions()) === 0)
}

module.exports = { admin }

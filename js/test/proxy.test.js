import assert from 'node:assert/strict'
import { test } from 'node:test'
import kafkajs from 'kafkajs'
import { start } from '../index.js'

const MOVED = `
version: 1
rules:
  - name: the leader has moved
    match: {api: Produce, direction: request}
    when: {times: 1, scope: rule}
    do: {respond: {error: NOT_LEADER_OR_FOLLOWER}}
`

// What is tested: a record, acknowledged.
async function send(bootstrap, topic) {
  const { Kafka, logLevel, Partitioners } = kafkajs
  const client = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING })
  const producer = client.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  try {
    await producer.send({ topic, messages: [{ value: 'tea' }] })
  } finally {
    await producer.disconnect()
  }
}

test('a record is sent again when the leader has moved', async t => {
  const proxy = await start(t, MOVED)
  await send(proxy.bootstrapServer, 'js-moved')
  const produced = await proxy.waitFor("api == 'Produce'", 2)
  assert.deepEqual(produced.map(each => each.error), ['NOT_LEADER_OR_FOLLOWER', ''])
  assert.equal(await proxy.fired('the leader has moved'), 1)
  await proxy.assertRetries({ api: 'Produce', atLeast: 1, atMost: 1 })
  await proxy.assertNoDuplicates()
  await proxy.assertFindings()
})

test('rules are added in mid-test', async t => {
  const proxy = await start(t)
  await send(proxy.bootstrapServer, 'js-added')
  await proxy.rule('{name: slow, match: {api: Produce, direction: response}, do: {delay: 100ms}}')
  await send(proxy.bootstrapServer, 'js-added')
  const [first, second] = await proxy.exchanges("api == 'Produce'")
  assert.deepEqual(first.rules, [])
  assert.ok(second.latency_ms >= 100)
})

test('what is wrong is an error that says what passed', async t => {
  const proxy = await start(t, MOVED)
  await send(proxy.bootstrapServer, 'js-wrong')
  await assert.rejects(proxy.assertFindings('backoff'), /check backoff finds nothing/)
  await assert.rejects(proxy.waitFor("api == 'Fetch'", 1, 50), /0 of 1 with filter="api == 'Fetch'" passed within 0.05 s/)
  await assert.rejects(proxy.fired('slow'), /no rule is called slow: the leader has moved/)
  assert.deepEqual((await proxy.end()).ended.findings, [])
})

test('a scenario that is none is said', async t => {
  await assert.rejects(start(t, 'slow-produce'), /no ready scenario is called 'slow-produce'; did you mean/)
})

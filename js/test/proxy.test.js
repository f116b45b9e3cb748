import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import kafkajs from 'kafkajs'
import { shared, start } from '../index.js'

const run = promisify(execFile)

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

test('x'.repeat(199) + '🎉 is cut between characters', async t => {
  assert.match((await start(t)).bootstrapServer, /^127\.0\.0\.1:/)
})

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

const FAILS = `
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { start } from '${new URL('../index.js', import.meta.url)}'
test('it passes', async t => { await start(t) })
test('it fails', async t => {
  const proxy = await start(t)
  await (await fetch('http://' + proxy.bootstrapServer)).text().catch(() => {})
  await proxy.waitFor('', 1)
  assert.fail('broken')
})
`

test('a test that fails prints what passed, and keeps its capture', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'fails.mjs'), FAILS)
  const { NODE_TEST_CONTEXT, BARNABAS_REPORTS, ...env } = process.env // else node runs no tests in tests
  const { code, stdout } = await run(process.execPath, ['--test', '--test-reporter=tap', 'fails.mjs'], { cwd: folder, env }).catch(problem => problem)
  assert.equal(code, 1)
  assert.match(stdout, /# all that passed is \d+ exchange/)
  const [capture, ...others] = await readdir(join(folder, 'barnabas-captures'))
  assert.match(capture, /^it_fails-\w+\.pcapng$/)
  assert.deepEqual(others, [])
  assert.match(stdout, new RegExp(`capture: .*/barnabas-captures/${capture}`))
})

test('tests share a proxy, and see their own exchanges', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-'))
  t.after(() => rm(folder, { recursive: true }))
  process.env.BARNABAS_REPORTS = folder
  t.after(() => delete process.env.BARNABAS_REPORTS)
  const get = shared(MOVED)
  const first = await get(t)
  await send(first.bootstrapServer, 'js-shared')
  const second = await get(t)
  assert.equal(second.bootstrapServer, first.bootstrapServer)
  await send(second.bootstrapServer, 'js-shared')
  assert.equal((await second.waitFor("api == 'Produce'")).length, 1)
  assert.equal((await second.exchanges("api == 'Produce'")).length, 1)
  await second.assertRetries({ api: 'Produce', atMost: 0 })
  await first.assertRetries({ api: 'Produce', atLeast: 1, atMost: 1 })
  assert.match(await first.report(), /NOT_LEADER_OR_FOLLOWER/)
  assert.doesNotMatch(await second.report(), /NOT_LEADER_OR_FOLLOWER/)
})

test('a scenario that is none is said', async t => {
  await assert.rejects(start(t, 'slow-produce'), /no ready scenario is called 'slow-produce'; did you mean/)
})

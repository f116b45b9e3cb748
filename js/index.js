// A Kafka proxy of its own for a test of node's test runner: rules that break what passes, and assertions on what passed.

import assert from 'node:assert/strict'
import { options, server } from './server.js'

export { options }

const LONGEST = 200 // characters of a test's name

/** Begin a test with a proxy of its own; scenario: YAML, or the name of one that comes with barnabas. */
export async function start(t, scenario) {
  const ready = await server()
  const began = await ask(ready, 'POST', '', { name: t.name.slice(0, LONGEST), ...(scenario && { scenario }) })
  const proxy = new Proxy(ready, began)
  t.after(async () => {
    const { ended, capture } = await proxy.end()
    if (t.passed === false) t.diagnostic(JSON.stringify({ rules: ended.rules, findings: ended.findings, capture }))
  })
  return proxy
}

/** The proxy of one test. */
export class Proxy {
  #ready
  #path

  constructor(ready, { id, bootstrap }) {
    this.#ready = ready
    this.#path = '/' + id
    this.bootstrapServer = bootstrap
    this.cluster = ready.bootstrap
  }

  /** Add a rule (YAML), asked last. */
  async rule(text) {
    await this.#ask('POST', '/rules', text)
  }

  /** What all rules have done so far. */
  async rules() {
    return (await this.#ask('GET', '/scenario')).rules
  }

  /** How often a rule did something so far. */
  async fired(name) {
    const rules = await this.rules()
    const found = rules.find(rule => rule.name === name)
    assert.ok(found, `no rule is called ${name}: ${rules.map(rule => rule.name).join(', ')}`)
    return found.fired
  }

  /** Exchanges that have passed so far, of those that pass a filter, such as `api == 'Produce'`. */
  async exchanges(filter = '') {
    return this.#ask('GET', `/exchanges?${new URLSearchParams({ filter, last: '100000' })}`)
  }

  /** Wait until so many exchanges that pass a filter have passed since the test began, and fail after some ms. */
  async waitFor(filter, count = 1, timeout_ms = 5000) {
    return (await this.#ask('POST', '/wait_for', { filter, count, timeout_ms })).exchanges
  }

  /** Fail unless as many requests were sent again as may be. */
  async assertRetries({ api, clientId: client_id, atLeast: at_least = 0, atMost: at_most }) {
    await this.#assert({ retries: { api, client_id, at_least, at_most } })
  }

  /** Fail if a broker has taken a batch of an idempotent producer twice. */
  async assertNoDuplicates() {
    await this.#assert({ duplicate_sequences: 0 })
  }

  /** Fail unless these checks find something, and no others. */
  async assertFindings(...checks) {
    await this.#assert({ findings: checks })
  }

  /** End the test before node does: what passed, what each rule did, what checks find. */
  async end() {
    this.#ended ??= this.#ask('DELETE', '')
    return this.#ended
  }

  #ended

  async #assert(what) {
    const { broken } = await this.#ask('POST', '/assert', what)
    if (broken.length > 0) assert.fail(broken.join('\n'))
  }

  #ask(method, path, body) {
    return ask(this.#ready, method, this.#path + path, body)
  }
}

// A request about tests: text as it is, all else as JSON.
async function ask({ control, token }, method, path, body) {
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`http://${control}/v1/tests${path}`, { method, headers, body: sent })
  const said = await answer.json()
  assert.ok(answer.ok, `barnabas: ${said.error ?? answer.status}`)
  return said
}

// A Kafka proxy of its own for a test of node's test runner: rules that break what passes, and assertions on what passed.

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { options, server } from './server.js'

export { options }

const LONGEST = 200 // characters of a test's name

/** Begin a test with a proxy of its own; scenario: YAML, or the name of one that comes with barnabas. */
export async function start(t, scenario) {
  const [ready, began] = await begin(t.name, scenario)
  const proxy = new Proxy(ready, began)
  t.after(async () => {
    await proxy.end()
    if (t.passed === false) await tell(t, proxy)
  })
  return proxy
}

/**
 * Return a function like `start` for tests that share one proxy: it begins with the first of them and ends with the
 * process. Each test sees the exchanges since its own beginning.
 */
export function shared(scenario) {
  let started
  return async t => {
    const [ready, began] = await (started ??= begin('shared', scenario))
    const { exchanges } = await ask(ready, 'GET', '/' + began.id)
    const proxy = new Proxy(ready, began, exchanges)
    t.after(async () => {
      if (t.passed === false) await tell(t, proxy)
    })
    return proxy
  }
}

// A diagnostic of several lines is one line of TAP.
async function tell(t, proxy) {
  for (const line of (await proxy.report(t.name)).split('\n')) t.diagnostic(line)
}

async function begin(name, scenario) {
  const ready = await server()
  return [ready, await ask(ready, 'POST', '', { name: [...name.toWellFormed()].slice(0, LONGEST).join(''), ...(scenario && { scenario }) })]
}

/** The proxy of one test, or what one test sees of a shared proxy. */
export class Proxy {
  #ready
  #path
  #since

  constructor(ready, { id, bootstrap }, since = 0) {
    this.#ready = ready
    this.#since = since
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
    return this.#ask('GET', `/exchanges?${new URLSearchParams({ filter, last: '100000', since: this.#since })}`)
  }

  /** Wait until so many exchanges that pass a filter have passed since the test began, and fail after some ms. */
  async waitFor(filter, count = 1, timeout_ms = 5000) {
    return (await this.#ask('POST', '/wait_for', { filter, count, timeout_ms, since: this.#since })).exchanges
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

  /** Return the last exchanges, what the rules did, what checks find, and the path of the capture, which stays. */
  async report(name = '') {
    const said = await (await send(this.#ready, 'GET', `${this.#path}/report?since=${this.#since}`)).text()
    return `${said}capture: ${await this.#keep(name).catch(problem => problem.message)}`
  }

  async #keep(name) {
    const capture = await send(this.#ready, 'GET', this.#path + '/capture')
    const folder = resolve(process.env.BARNABAS_REPORTS || 'barnabas-captures')
    const file = join(folder, `${name.slice(0, LONGEST).replace(/\W+/g, '_')}-${this.#path.slice(1)}.pcapng`)
    await mkdir(folder, { recursive: true })
    await writeFile(file, Buffer.from(await capture.arrayBuffer()), { mode: 0o600 })
    return file
  }

  async #assert(what) {
    const { broken } = await this.#ask('POST', '/assert', { ...what, since: this.#since })
    if (broken.length > 0) assert.fail(broken.join('\n'))
  }

  #ask(method, path, body) {
    return ask(this.#ready, method, this.#path + path, body)
  }
}

async function ask(...request) {
  return (await send(...request)).json()
}

// Send a request about tests: text as it is, all else as JSON.
async function send({ control, token }, method, path, body) {
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`http://${control}/v1/tests${path}`, { method, headers, body: sent })
  if (!answer.ok) assert.fail(`barnabas: ${(await answer.json()).error ?? answer.status}`)
  return answer
}

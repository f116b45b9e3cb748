// A session of the fuzzer: its task, its end, and its reports. programs/lines.py describes sessions.
'use strict'

const { createHash } = require('node:crypto')
const { now, sleep } = require('./work.cjs')

const RECORDS = 14 // the records in the bench's topic: a session that has read them is finished
const READING = 1 // s that a session reads at most
const JOINING = 0.5 // further seconds for a session that joins a group first
const WAITING = 0.7 // s that another call is waited for
const KEPT = 64 // records and errors of a session to report
const SHORT = 64 // bytes of a key or a value to report; longer ones are reported by a digest

const asText = data => {
  if (data === null || data === undefined || data.length <= SHORT) return data?.toString('hex') ?? null
  return `${data.length} bytes ${createHash('sha256').update(data).digest('hex')}`
}

class Session {
  constructor({ api, bootstrap, topic }) {
    this.api = api
    this.bootstrap = [bootstrap]
    this.topic = topic
    this.group = 'bench-group'
    this.over = false
    this.records = 0
    this.delivered = []
    this.failed = []
    this.crashed = [] // errors that the library reports by an event
  }

  // Report a record that the application received.
  deliver(partition, offset, timestamp, key, value, headers) {
    this.records++
    if (this.delivered.length === KEPT) return
    const named = headers.map(([name, header]) => [String(name), asText(header)])
    this.delivered.push([partition, Number(offset), Number(timestamp), asText(key), asText(value), named])
  }

  fail(problem) {
    if (this.failed.length < KEPT) this.failed.push(problem.name)
  }

  // Return when all records have arrived, the session is over, or the library reports an error.
  async read() {
    const until = now() + READING + JOINING
    while (this.records < RECORDS && !this.over && !this.crashed.length && now() < until) await sleep(0.01)
    if (this.crashed.length) throw this.crashed[0]
  }

  // Return the result of a promise; undefined if it takes too long or the session is over before it begins.
  async within(call) {
    if (this.over) return undefined
    let timer
    const late = new Promise(resolve => {
      timer = setTimeout(resolve, WAITING * 1000)
    })
    return Promise.race([call(), late]).finally(() => clearTimeout(timer))
  }

  // Make calls; an error of one does not keep the others from being made. Throw the first.
  async each(calls) {
    const until = now() + WAITING
    const problems = []
    for (const call of calls) {
      if (this.over || now() > until) break
      await this.within(call).catch(problem => problems.push(problem))
    }
    if (problems.length) throw problems[0]
  }
}

module.exports = { Session }

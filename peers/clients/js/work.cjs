// Parameters and reports of a workload, as in programs/work.py.
'use strict'

const sleep = seconds => new Promise(resolve => setTimeout(resolve, seconds * 1000))
const now = () => performance.now() / 1000

// A timeout passed without a result from the client.
class GaveUpError extends Error {}

// The library does not support the workload.
class NotOfferedError extends Error {
  constructor() {
    super('this library does not offer it')
  }
}

const MESSAGE_CHARACTERS = 200 // of an error in an event

class Work {
  atOnce = 5 // records that are read before their offsets are committed
  attempts = 5 // at a transaction
  adminTopics = 5 // topics that an administrator makes, changes and deletes
  closing = 10 // s for a client that has failed

  constructor({ bootstrap, topic, work }, out) {
    this.bootstrap = bootstrap.split(',')
    this.topic = topic
    this.topics = work.topics // all topics to read; the first is `topic`
    this.members = work.members ?? [] // of the group
    this.group = `${topic}-group`
    this.output = `${topic}-out` // the topic to which read-process-write copies
    this.partitions = work.partitions // of each topic
    this.patience = work.patience // s after which it gives up
    this.pause = work.pause // s between two sends
    this.settings = work.settings // of a producer by Kafka's names, which apply if the library has them
    this.rounds = work.rounds.map(sends => sends.map(records => records.map(record => planned(record, topic)))) // a transaction each
    this.ids = Array.from({ length: work.records }, (_, number) => `${topic}-${number}`)
    this.codecs = work.codecs ?? [] // compressions that the brokers know, as compression.type has them
    this.until = now() + work.stay
    this.out = out
  }

  // Whether a consumer stays in its group after it has read all records.
  get stays() {
    return now() < this.until
  }

  // Each third transaction is aborted on purpose.
  aborts(number) {
    return number % 3 === 2
  }

  report(event, facts) {
    this.out({ event, ...facts })
  }

  // Report the records of a send as acknowledged; with their positions, if all are in one partition. at: partitions and first offsets.
  acknowledged(records, at) {
    const [{ partition, offset }] = at
    const first = at.length === 1 && offset >= 0 ? Number(offset) : undefined
    for (const [number, { id, topic }] of records.entries()) {
      const position = first === undefined ? {} : { partition, offset: first + number }
      this.report('acknowledged', { id, topic, ...position })
    }
  }

  // Report an error of a send: its records may be written nevertheless.
  error(records, problem) {
    const message = String(problem.message).slice(0, MESSAGE_CHARACTERS)
    for (const { id, topic } of records) this.report('error', { id, topic, message })
  }

  ended(transaction, outcome) {
    this.report('transaction', { transaction, outcome })
  }

  committed(topic, partition, offset) {
    this.report('offset_committed', { group: this.group, topic, partition: Number(partition), offset: Number(offset) })
  }

  // Return the result of a promise. Throws GaveUpError after a timeout.
  async within(step, promise, seconds = this.patience) {
    let timer
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new GaveUpError(`${step}: neither done nor failed`)), seconds * 1000)
    })
    return Promise.race([promise, late]).finally(() => clearTimeout(timer))
  }

  // Use a client and close it. An error of `close` is thrown only if `use` succeeds.
  async using(use, close) {
    let result
    try {
      result = await use()
    } catch (problem) {
      await this.within('close', close(), this.closing).catch(() => {})
      throw problem
    }
    await this.within('close', close())
    return result
  }

  // Wait until a change is visible. Throws GaveUpError.
  async waitUntilVisible(change, isVisible) {
    for (const until = now() + this.patience; !(await this.within(change, isVisible())); await sleep(0.05)) {
      if (now() > until) throw new GaveUpError(`${change} is not to be seen`)
    }
  }

  // Run all transactions, and abort each third. attempt: gets the sends, a name and whether to abort; returns false if the transaction
  // had to be aborted and may be repeated.
  async transactions(attempt) {
    for (const [number, batch] of this.rounds.entries()) {
      let tries = 0
      while (!(await attempt(batch, `${number}.${tries}`, this.aborts(number)))) {
        if (++tries === this.attempts) throw new GaveUpError(`transaction ${number} was aborted ${tries} times`)
      }
    }
  }

  // Send rounds with each compression that the library offers.
  async withCompressions(offered, send) {
    const codecs = this.codecs.filter(codec => offered.includes(codec))
    for (const [at, codec] of codecs.entries()) await send(codec, this.rounds.filter((_, number) => number % codecs.length === at))
  }

  // Send the records of each round at the same time. send: returns the positions of records. Order is promised only between calls that
  // follow each other: events name a producer for each sequence of calls. name: of the client.
  async sendAll(send, { rounds = this.rounds, transaction, name = 'producer' } = {}) {
    for (const sends of rounds) {
      const calls = []
      const running = new Set()
      for (const records of sends) {
        let call = 0
        while (running.has(call)) call++
        running.add(call)
        for (const { id, topic } of records) this.report('sent', { id, topic, transaction, producer: `${name}-call-${call}` })
        const outcome = send(records).then(
          at => this.acknowledged(records, at),
          problem => {
            this.error(records, problem)
            throw problem
          }
        )
        calls.push(this.within('send', outcome).finally(() => running.delete(call)))
        calls.at(-1).catch(() => {}) // thrown below
        await sleep(this.pause)
      }
      const failed = (await Promise.allSettled(calls)).find(({ status }) => status === 'rejected')
      if (failed) throw failed.reason
    }
  }

  // Return the sends that copy records of these ids to the output topic.
  copying(ids) {
    return [ids.map(id => planned({ id, key: id }, this.output))]
  }
}

// Return a record to send, with the message that libraries take.
function planned({ id, topic, key, partition, size, null: none, headers, timestamp }, otherwise) {
  const message = { key: key ?? null, value: none ? null : size === undefined ? id : size === 0 ? '' : `${id}|`.padEnd(size, 'x') }
  if (partition !== undefined) message.partition = partition
  if (headers !== undefined) message.headers = Object.fromEntries(headers)
  if (timestamp !== undefined) message.timestamp = timestamp
  return { id, topic: topic ?? otherwise, message }
}

// A consumer's reports of its partitions and records. name: also its client id. isolation: as isolation.level.
class Reader {
  constructor(work, name, { isolation }) {
    this.name = name
    this.work = work
    work.report('consumer', { consumer: name, group: work.group, isolation, reset: 'earliest' })
  }

  // Report a partition that was assigned, or in which the consumer has sought.
  assigned(topic, partition) {
    this.work.report('assigned', { consumer: this.name, topic, partition })
  }

  consumed(topic, partition, offset, id) {
    this.work.report('consumed', { consumer: this.name, id, topic, partition, offset: Number(offset) })
  }
}

const chunks = (items, size) => Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))

module.exports = { GaveUpError, NotOfferedError, Reader, Work, chunks, now, sleep }

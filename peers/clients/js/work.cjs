// What every workload in JavaScript is given: what is wanted of it, and who is told what happens, as programs/work.py has it.
'use strict'

const sleep = seconds => new Promise(resolve => setTimeout(resolve, seconds * 1000))
const now = () => performance.now() / 1000

// A workload waited longer than it is told to: the client said neither that it is done nor that it failed.
class GaveUpError extends Error {}

// The library can't do what is asked for.
class NotOfferedError extends Error {
  constructor() {
    super('this library does not offer it')
  }
}

class Work {
  atOnce = 5 // records that are read before their offsets are committed
  attempts = 5 // at a transaction
  adminTopics = 5 // topics that an administrator makes, changes and deletes
  closing = 10 // s for a client that has failed

  constructor({ bootstrap, topic, work }, out) {
    this.bootstrap = bootstrap.split(',')
    this.topic = topic
    this.group = `${topic}-group`
    this.output = `${topic}-out` // the topic to which read-process-write copies
    this.partitions = work.partitions // of both topics
    this.patience = work.patience // s after which it gives up
    this.pause = work.pause // s between two sends
    this.settings = work.settings // of a producer by Kafka's names, which apply if the library has them
    this.rounds = work.rounds.map(sends => sends.map(records => records.map(record => planned(record, topic)))) // a transaction each
    this.ids = Array.from({ length: work.records }, (_, number) => `${topic}-${number}`)
    this.codecs = work.codecs ?? [] // compressions that the brokers know, as compression.type has them
    this.leaves = now() + work.stay
    this.out = out
  }

  // Each third transaction is aborted on purpose.
  aborts(number) {
    return number % 3 === 2
  }

  tell(event, facts) {
    this.out({ event, ...facts })
  }

  // Tell that the records of a send are acknowledged, and where, if all are in one partition. at: their partitions and first offsets.
  acknowledged(records, at) {
    const [{ partition, offset }] = at
    const first = at.length === 1 && offset >= 0 ? Number(offset) : undefined
    for (const [number, { id, topic }] of records.entries()) {
      const place = first === undefined ? {} : { partition, offset: first + number }
      this.tell('acknowledged', { id, topic, ...place })
    }
  }

  ended(transaction, outcome) {
    this.tell('transaction', { transaction, outcome })
  }

  committed(topic, partition, offset) {
    this.tell('offset_committed', { group: this.group, topic, partition: Number(partition), offset: Number(offset) })
  }

  // What a promise comes to. Throws GaveUpError if that takes too long.
  async within(what, promise, seconds = this.patience) {
    let timer
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new GaveUpError(`${what}: neither done nor failed`)), seconds * 1000)
    })
    return Promise.race([promise, late]).finally(() => clearTimeout(timer))
  }

  // Use a client and close it in the end; that it can't be closed is no news if it fails.
  async using(use, close) {
    let found
    try {
      found = await use()
    } catch (problem) {
      await this.within('close', close(), this.closing).catch(() => {})
      throw problem
    }
    await this.within('close', close())
    return found
  }

  // Look until it is so: what was changed is seen a little later. Throws GaveUpError.
  async shown(what, look) {
    for (const until = now() + this.patience; !(await this.within(what, look())); await sleep(0.05)) {
      if (now() > until) throw new GaveUpError(`${what} is not to be seen`)
    }
  }

  // Have all transactions, each third aborted; `attempt` of sends, name and whether to abort says false if it
  // had to be aborted.
  async transactions(attempt) {
    for (const [number, batch] of this.rounds.entries()) {
      let tries = 0
      while (!(await attempt(batch, `${number}.${tries}`, this.aborts(number)))) {
        if (++tries === this.attempts) throw new GaveUpError(`transaction ${number} was aborted ${tries} times`)
      }
    }
  }

  // Have `send` send the rounds of each compression, of those that the library offers.
  async coded(offered, send) {
    const codecs = this.codecs.filter(codec => offered.includes(codec))
    for (const [at, codec] of codecs.entries()) await send(codec, this.rounds.filter((_, number) => number % codecs.length === at))
  }

  // Have `send` send records and say where they are, sends of a round at the same time. Order is promised of calls that follow each other
  // only: those are of one producer.
  async sendAll(send, rounds = this.rounds, transaction = undefined) {
    for (const sends of rounds) {
      const calls = []
      const running = new Set()
      for (const records of sends) {
        let call = 0
        while (running.has(call)) call++
        running.add(call)
        for (const { id, topic } of records) this.tell('sent', { id, topic, transaction, producer: `call-${call}` })
        calls.push(
          this.within('send', send(records))
            .then(at => this.acknowledged(records, at))
            .finally(() => running.delete(call))
        )
        calls.at(-1).catch(() => {}) // thrown below
        await sleep(this.pause)
      }
      const failed = (await Promise.allSettled(calls)).find(({ status }) => status === 'rejected')
      if (failed) throw failed.reason
    }
  }

  // The sends that copy values to the output topic.
  copying(values) {
    return [values.map(value => planned({ id: String(value), key: String(value) }, this.output))]
  }
}

// A record to send, with the message that libraries take.
function planned({ id, topic, key, partition, size, null: none, headers, timestamp }, otherwise) {
  const message = { key: key ?? null, value: none ? null : size === undefined ? id : size === 0 ? '' : `${id}|`.padEnd(size, 'x') }
  if (partition !== undefined) message.partition = partition
  if (headers !== undefined) message.headers = Object.fromEntries(headers)
  if (timestamp !== undefined) message.timestamp = timestamp
  return { id, topic: topic ?? otherwise, message }
}

// A consumer that tells what it is given. group: whether it is in one; isolation: as isolation.level has it.
class Reader {
  constructor(work, name = 'reader', { group = true, isolation = 'read_uncommitted' } = {}) {
    this.name = name // its client id, too
    this.work = work
    work.tell('consumer', { consumer: name, group: group ? work.group : undefined, isolation, reset: 'earliest' })
  }

  // A partition that it was assigned, or in which it has sought.
  got(topic, partition) {
    this.work.tell('assigned', { consumer: this.name, topic, partition })
  }

  consumed(topic, partition, offset, value) {
    this.work.tell('consumed', { consumer: this.name, id: String(value), topic, partition, offset: Number(offset) })
  }
}

// The records that no consumer was given yet, or that are not copied yet. stays: whether consumers go on for a while when they have all.
class Missing {
  constructor(work, { stays = true } = {}) {
    this.work = work
    this.ids = new Set(work.ids)
    this.until = now() + work.patience
    this.stays = stays
    this.ended = false
  }

  found(value) {
    this.ids.delete(String(value))
  }

  // Wait until consumers are to end. Throws what one of them failed with, and GaveUpError.
  async over(failed) {
    while (!this.ended && (this.ids.size || (this.stays && now() < this.work.leaves))) {
      if (failed.length) throw failed[0]
      if (this.ids.size && now() > this.until) throw new GaveUpError(`${this.ids.size} records were not delivered`)
      await sleep(0.05)
    }
  }

  // Have two members read, named so: the second joins once the first was given a record. Throws what either does.
  async byTwo(read) {
    const until = async run => run.finally(() => (this.ended = true))
    const second = async () => {
      while (!this.ended && this.ids.size === this.work.ids.length) await sleep(0.05)
      await read('reader-2')
    }
    await Promise.all([until(read('reader-1')), until(second())])
  }
}

const chunks = (items, size) => Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))

module.exports = { GaveUpError, Missing, NotOfferedError, Reader, Work, chunks, now, sleep }

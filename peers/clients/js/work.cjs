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
  atOnce = 5 // records of a transaction, and that are read before their offsets are committed
  attempts = 5 // at a transaction
  rounds = 5 // topics that an administrator makes, changes and deletes
  closing = 10 // s for a client that has failed

  constructor({ bootstrap, topic, work }, out) {
    this.bootstrap = bootstrap.split(',')
    this.topic = topic
    this.group = `${topic}-group`
    this.output = `${topic}-out` // the topic to which read-process-write copies
    this.partitions = work.partitions // of both topics
    this.patience = work.patience // s after which it gives up
    this.pause = work.pause // s between two records that are sent
    this.ids = Array.from({ length: work.records }, (_, number) => `${topic}-${number}`)
    this.codecs = work.codecs ?? [] // compressions that the brokers know, as compression.type has them
    this.leaves = now() + work.stay
    this.out = out
  }

  // The ids, for a transaction each; each third of which is aborted on purpose.
  get batches() {
    return chunks(this.ids, this.atOnce)
  }

  aborts(number) {
    return number % 3 === 2
  }

  tell(event, facts) {
    this.out({ event, ...facts })
  }

  sent(id, transaction, topic = this.topic) {
    this.tell('sent', { id, topic, transaction })
  }

  // A negative offset is none.
  acknowledged(id, partition, offset, topic = this.topic) {
    this.tell('acknowledged', { id, topic, partition, offset: offset < 0 ? undefined : Number(offset) })
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

  // Have all transactions, each third aborted; `attempt` of records, name and whether to abort says false if it
  // had to be aborted.
  async transactions(attempt) {
    for (const [number, batch] of this.batches.entries()) {
      let tries = 0
      while (!(await attempt(batch, `${number}.${tries}`, this.aborts(number)))) {
        if (++tries === this.attempts) throw new GaveUpError(`transaction ${number} was aborted ${tries} times`)
      }
    }
  }

  // Have `send` send the ids of each compression, of those that the library offers.
  async coded(offered, send) {
    const codecs = this.codecs.filter(codec => offered.includes(codec))
    for (const [at, codec] of codecs.entries()) await send(codec, this.ids.filter((_, number) => number % codecs.length === at))
  }

  // Have `send` send records, one after the other.
  async sendAll(send, ids = this.ids) {
    for (const id of ids) {
      await this.within(id, send(id))
      await sleep(this.pause)
    }
  }
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

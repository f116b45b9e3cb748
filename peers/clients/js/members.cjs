// The members of a workload's group: when they join, how they work, and when they leave.
'use strict'

const { GaveUpError, Reader, now, sleep } = require('./work.cjs')

const HEARTBEATS = 1 // s between two calls of `heartbeat` while a member works
const POLLS = 3 // polls with records before each pause, and before the one return to the committed offsets

const keyOf = ({ topic, partition }) => `${topic} ${partition}`

// Return the last record of each partition.
const lastOfPartitions = records => [...new Map(records.map(record => [keyOf(record), record])).values()]

const inOrder = (a, b) => (a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1)

// Return the id of a record: its value up to the padding, or its key if it has no value.
const recordId = ({ key, value }) => (value?.length ? String(value).split('|')[0] : String(key ?? ''))

// The records that no consumer has received yet, or that are not copied yet.
class PendingRecords {
  constructor(work) {
    this.work = work
    this.ids = new Set(work.ids)
    this.until = now() + work.patience
    this.departed = new Set([undefined]) // names of members that have left
    this.error = null // the first error of a member
  }

  // Remove a received record.
  received(record) {
    this.ids.delete(recordId(record))
  }

  // Return whether consumers are to continue. Throws GaveUpError.
  unfinished() {
    if (this.ids.size && now() > this.until) throw new GaveUpError(`${this.ids.size} records were not delivered`)
    return !this.error && (this.ids.size > 0 || this.work.stays)
  }

  // Run the members concurrently; `run` gets a member's `MemberWork`. An error of a member ends all members; throws the first.
  async runMembers(run) {
    await Promise.all(
      this.work.members.map(async (member, number) => {
        try {
          if (await this.waitForTurn(member)) await run(new MemberWork(this, member, number === 0 ? '' : `-${member.name}`))
        } catch (problem) {
          this.error ??= problem
        }
        this.departed.add(member.name)
      })
    )
    if (this.error) throw this.error
  }

  // Wait until a member is to join. Returns false if the workload is over before.
  async waitForTurn({ after = 0, follows }) {
    while (this.unfinished()) {
      if (this.work.ids.length - this.ids.size >= after && this.departed.has(follows)) return true
      await sleep(0.05)
    }
    return false
  }
}

// The work of a member on its records. suffix: of its producer's names; empty for the first member.
// A record has a topic, a partition, an offset, a key and a value.
class MemberWork {
  constructor(pending, member, suffix) {
    this.pending = pending
    this.work = pending.work
    this.options = { leaves: Infinity, delay: 0, stall: 0, settings: {}, ...member }
    this.suffix = suffix
    this.partitions = [] // assigned to the consumer
    this.uncommitted = new Map() // the last received record of each partition, until it is committed
    this.polls = 0
    this.received = 0
    this.over = false
    this.handling = Promise.resolve()
    this.errors = [] // of the consumer, which end the workload
    this.reader = new Reader(this.work, member.name, { isolation: 'read_committed' })
  }

  // Whether the member takes no further records.
  get leaving() {
    return this.over || this.received >= this.options.leaves
  }

  // Report the partitions of a new assignment; the consumer returns to their committed offsets.
  assigned(partitions) {
    this.partitions = partitions
    this.uncommitted.clear()
    for (const { topic, partition } of partitions) this.reader.assigned(topic, partition)
  }

  // Report the records of a poll and return the result of `handle`; undefined if the member is leaving and ignores them.
  async poll(records, handle) {
    if (this.leaving) return undefined
    for (const record of records) this.reader.consumed(record.topic, record.partition, record.offset, recordId(record))
    this.handling = handle(records)
    return this.handling
  }

  // Count records that are processed.
  processed(records) {
    this.received += records.length
    for (const record of records) this.pending.received(record)
  }

  // Work on the records of a poll and commit them. Returns false if they are to be read again, from the committed offsets.
  // commit: commits the offsets after records, and returns the records for which it succeeded. rewind: seeks to the committed offsets.
  // pause: pauses all partitions for two polls. heartbeat: is called during the work, if the library has no heartbeats of its own.
  async readAndCommit(records, { commit, rewind, pause, heartbeat = async () => {} }) {
    const { delay, partial, pauses, rewinds, stall } = this.options
    this.processed(records)
    for (const record of records) this.uncommitted.set(keyOf(record), record)
    this.polls++
    let remaining = this.polls === 1 ? delay + stall : delay
    for (; remaining > HEARTBEATS; remaining -= HEARTBEATS) {
      await sleep(HEARTBEATS)
      await heartbeat()
    }
    await sleep(remaining)
    if (rewinds && this.polls === POLLS) {
      this.uncommitted.clear()
      await rewind()
      return false
    }
    await this.commit(commit, partial ? 1 : Infinity)
    if (pauses && this.polls % POLLS === 0) await pause()
    return true
  }

  // Commit the offsets of the first partitions.
  async commit(commit, partitions = Infinity) {
    const records = [...this.uncommitted.values()].sort(inOrder).slice(0, partitions)
    if (!records.length) return
    for (const record of await commit(records)) {
      if (this.uncommitted.get(keyOf(record)) === record) this.uncommitted.delete(keyOf(record))
    }
  }

  // Wait until the member leaves or the workload is over, and commit the remaining offsets. Throws errors of the consumer.
  async untilEnd(commit) {
    while (!this.leaving && this.pending.unfinished()) {
      if (this.errors.length) throw this.errors[0]
      await sleep(0.05)
    }
    this.over = true
    await this.work.within('the last records', this.handling).catch(problem => {
      if (problem instanceof GaveUpError) throw problem // others are the consumer's
    })
    if (!this.pending.error) await this.commit(commit)
  }
}

module.exports = { PendingRecords, lastOfPartitions, recordId }

// Workloads of KafkaJS: its consumers are in a group of the classic protocol, with eager rebalances and dynamic members.
'use strict'

const { admin } = require('./administering.cjs')
const { readProcessWrite } = require('./copying.cjs')
const { compressed, idempotent, produce, transact } = require('./producing.cjs')
const { group } = require('./reading.cjs')

module.exports = { admin, compressed, group, idempotent, produce, 'read-process-write': readProcessWrite, transact }

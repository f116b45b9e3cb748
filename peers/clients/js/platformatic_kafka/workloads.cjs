// Workloads of @platformatic/kafka: its consumers always join a group, and it has no share groups.
'use strict'

const { admin } = require('./administering.cjs')
const { readProcessWrite } = require('./copying.cjs')
const { compressed, idempotent, produce, transact } = require('./producing.cjs')
const { group } = require('./reading.cjs')

module.exports = { admin, compressed, group, idempotent, produce, 'read-process-write': readProcessWrite, transact }

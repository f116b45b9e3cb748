// What every client program in JavaScript does, as programs/lines.py says it: `node lines.cjs FOLDER`, with NODE_PATH where the library is.
// It runs workloads; the fuzzer's sessions it does not have. A rejection that nobody handles ends the process, as it ends any other in node.
'use strict'

const { createInterface } = require('node:readline')
const { NotOfferedError, Work } = require('./work.cjs')

const out = line => process.stdout.write(`${JSON.stringify(line)}\n`)
console.log = console.info = console.debug = console.error // what a library prints must not stand between the answers
process.on('SIGQUIT', () => console.error('waits for', process.getActiveResourcesInfo()))

function told(problem) {
  const bases = []
  for (let kind = problem.constructor; kind?.name; kind = Object.getPrototypeOf(kind)) bases.push(kind.name)
  console.error(problem)
  return { class: bases[0], bases, message: String(problem.message).slice(0, 500), frames: [], where: 'call' }
}

async function main(folder) {
  const workloads = require(`./${folder}/workloads.cjs`)
  out({ ready: true })
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line)
    if (asked.over) continue
    let records = 0
    let raised = null
    try {
      const run = asked.work && workloads[asked.run]
      if (!run) throw new NotOfferedError()
      records = (await run(new Work(asked, out))) ?? 0
    } catch (problem) {
      raised = told(problem)
    }
    out({ number: asked.number, records, raised })
  }
  process.exit() // whatever a library still waits for
}

main(process.argv[2])

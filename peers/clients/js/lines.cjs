// The main program of every client in JavaScript, as programs/lines.py says it: `node lines.cjs FOLDER`, with NODE_PATH for the library.
// A rejection that nobody handles ends the process, as it ends any other in node.
'use strict'

const { createInterface } = require('node:readline')
const { Session } = require('./session.cjs')
const { NotOfferedError, Work } = require('./work.cjs')

const out = line => process.stdout.write(`${JSON.stringify(line)}\n`)
console.log = console.info = console.debug = console.error // what a library prints must not stand between the answers
process.on('SIGQUIT', () => console.error('waits for', process.getActiveResourcesInfo()))

function told(problem) {
  const bases = []
  for (let kind = problem.constructor; kind?.name; kind = Object.getPrototypeOf(kind)) bases.push(kind.name)
  console.error(problem)
  return { class: bases[0], bases, message: String(problem.message).slice(0, 500), frames: frames(problem), where: 'call' }
}

// The innermost frames of libraries, as file:function.
function frames(problem) {
  const lines = String(problem.stack).split('\n').filter(line => line.includes('/node_modules/'))
  return lines.slice(0, 5).map(line => {
    const [, name, path] = /^\s*at (?:(.*) \()?.*\/node_modules\/(.*?):\d+/.exec(line) ?? [null, '', line]
    return `${path}:${name ?? ''}`
  })
}

async function workload(asked, workloads) {
  try {
    const run = workloads[asked.run]
    if (!run) throw new NotOfferedError()
    return { records: (await run(new Work(asked, out))) ?? 0, raised: null }
  } catch (problem) {
    return { records: 0, raised: told(problem) }
  }
}

// Run a session. An error of a class that the library documents is reported as returned, any other as raised.
async function session(current, run, documented) {
  let raised = null
  try {
    await run?.(current)
  } catch (problem) {
    if (documented.some(kind => problem instanceof kind)) current.fail(problem)
    else raised = told(problem)
  }
  const { delivered, failed, records } = current
  return { records, raised, delivered, failed }
}

async function main(folder) {
  const workloads = require(`./${folder}/workloads.cjs`)
  const { documented, sessions } = require(`./${folder}/sessions.cjs`)
  const running = new Map()
  let before = Promise.resolve()
  out({ ready: true })
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line)
    const { number, run } = asked
    if (asked.over) {
      if (running.has(number)) running.get(number).over = true
    } else if (asked.work) {
      before = before.then(async () => out({ number, ...(await workload(asked, workloads)) }))
    } else {
      const current = new Session(asked)
      running.set(number, current)
      session(current, sessions[run], documented).then(ended => {
        running.delete(number)
        out({ number, ...ended })
      })
    }
  }
  await before
  process.stdout.write('', () => process.exit()) // once all is written, whatever a library still waits for
}

main(process.argv[2])

// The main program of every client in JavaScript: `node lines.cjs FOLDER`, with NODE_PATH for the library. programs/lines.py describes
// its lines. An unhandled rejection ends the process, as Node.js has it.
'use strict'

const { createInterface } = require('node:readline')
const { Session } = require('./session.cjs')
const { NotOfferedError, Work } = require('./work.cjs')

const out = line => process.stdout.write(`${JSON.stringify(line)}\n`)
console.log = console.info = console.debug = console.error // the output of a library must not stand between the lines
process.on('SIGQUIT', () => console.error('active resources:', process.getActiveResourcesInfo()))

function describe(problem) {
  const bases = []
  for (let kind = problem.constructor; kind?.name; kind = Object.getPrototypeOf(kind)) bases.push(kind.name)
  console.error(problem)
  return { class: bases[0], bases, message: String(problem.message).slice(0, 500), frames: frames(problem), where: 'call' }
}

// Return the innermost frames of libraries, as file:function.
function frames(problem) {
  const lines = String(problem.stack).split('\n').filter(line => line.includes('/node_modules/'))
  return lines.slice(0, 5).map(line => {
    const [, name, path] = /^\s*at (?:(.*) \()?.*\/node_modules\/(.*?):\d+/.exec(line) ?? [null, '', line]
    return `${path}:${name ?? ''}`
  })
}

async function workload(task, workloads) {
  try {
    const run = workloads[task.run]
    if (!run) throw new NotOfferedError()
    return { records: (await run(new Work(task, out))) ?? 0, raised: null }
  } catch (problem) {
    return { records: 0, raised: describe(problem) }
  }
}

// Run a session. An error of a class that the library documents is reported as returned, any other as raised.
async function session(current, run, documented) {
  let raised = null
  try {
    await run?.(current)
  } catch (problem) {
    if (documented.some(kind => problem instanceof kind)) current.fail(problem)
    else raised = describe(problem)
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
    const task = JSON.parse(line)
    const { number, run } = task
    if (task.over) {
      if (running.has(number)) running.get(number).over = true
    } else if (task.work) {
      before = before.then(async () => out({ number, ...(await workload(task, workloads)) }))
    } else {
      const current = new Session(task)
      running.set(number, current)
      session(current, sessions[run], documented).then(ended => {
        running.delete(number)
        out({ number, ...ended })
      })
    }
  }
  await before
  process.stdout.write('', () => process.exit()) // after the last line; connections of a library may still be open
}

main(process.argv[2])

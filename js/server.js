// The server of all tests, `barnabas serve-tests`: the first test starts it, and it ends with the process of the tests.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** How barnabas is started, and options of serve-tests. To be set before the first test. */
export const options = { command: (process.env.BARNABAS ?? 'barnabas').split(/\s+/), arguments: [] }

let ready

/** What its ready line says: {control, token, bootstrap}. */
export const server = () => (ready ??= start())

// When this process is gone the system closes the pipe to the server's stdin, and then it ends.
async function start() {
  const [program, ...rest] = [...options.command, '--until-eof', 'serve-tests', ...options.arguments]
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const failed = once(child, 'error').then(([problem]) => {
    throw new Error(`barnabas can't be started (install barnabas with the extras 'control,peers'): ${problem.message}`)
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`barnabas was not ready: exit code ${code}`)
  })
  for (const late of [failed, ended]) late.catch(() => {}) // once it is ready nobody waits for these
  const [line] = await Promise.race([once(lines, 'line'), failed, ended])
  for (const each of [child, child.stdin, child.stdout]) each.unref() // tests that are over do not wait for it
  return JSON.parse(line).ready
}

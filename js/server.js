// The server of all tests, `barnabas serve-tests`: the first test starts it, and it ends with the process of the tests.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

/** The words that start barnabas (empty: see `command`), and options of serve-tests. Set them before the first test. */
export const options = { command: [], arguments: [] }

const MISSING =
  'barnabas is not on the PATH: install it with the extras control and peers, or set BARNABAS_WHEEL ' +
  '(its wheel, for uvx or pipx on the PATH) or BARNABAS_IMAGE (its image, for docker or podman on the PATH)'

const OTHERWISE = 'set BARNABAS to the command that starts barnabas'

/** Seconds that barnabas may take to start, unless BARNABAS_START_SECONDS is set: the first start may build programs. */
const START_SECONDS = 300

/**
 * Return the words that start barnabas. The first that is there: BARNABAS in the environment (split at spaces),
 * options.command, barnabas on the PATH, the wheel BARNABAS_WHEEL by uvx or pipx, the image BARNABAS_IMAGE by docker
 * or podman.
 */
export function command({ BARNABAS = '', BARNABAS_WHEEL: wheel, BARNABAS_IMAGE: image, PATH = '' } = process.env) {
  if (BARNABAS.trim()) return BARNABAS.trim().split(/\s+/)
  if (options.command.length > 0) return options.command
  const extras = wheel?.includes('[') ? '' : '[control,peers]'
  const ways = [['barnabas']]
  if (wheel) ways.push(['uvx', '--from', wheel + extras, 'barnabas'], ['pipx', 'run', '--spec', wheel + extras, 'barnabas'])
  if (image) for (const program of ['docker', 'podman']) ways.push([program, 'run', '--rm', '-i', '--network', 'host', image])
  const words = ways.find(([program]) => PATH.split(delimiter).some(folder => isExecutable(join(folder, program))))
  if (!words) throw new Error(MISSING)
  return words
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

let ready

/** What its ready line says: {control, token, bootstrap}. */
export const server = () => (ready ??= start())

// When this process is gone the system closes the pipe to the server's stdin, and then it ends.
async function start() {
  const seconds = Number(process.env.BARNABAS_START_SECONDS || START_SECONDS)
  if (!(seconds > 0 && seconds <= 1e6)) throw new Error(`BARNABAS_START_SECONDS is no number above 0, up to 1000000: ${process.env.BARNABAS_START_SECONDS}`)
  const [program, ...rest] = [...command(), '--until-eof', 'serve-tests', ...options.arguments]
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const failed = once(child, 'error').then(([problem]) => {
    throw new Error(`barnabas can't be started: ${problem.message}; ${OTHERWISE}`)
  })
  const line = [program, ...rest].join(' ')
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`barnabas was not ready (${line}): exit code ${code}; its output above may say why, or ${OTHERWISE}`)
  })
  for (const late of [failed, ended]) late.catch(() => {}) // once it is ready nobody waits for these
  let timer
  const timeout = new Promise((_, reject) => {
    const message = `barnabas (${line}) was not ready after ${seconds} s: ${OTHERWISE}, or BARNABAS_START_SECONDS to a longer time`
    timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(message))
    }, seconds * 1000)
  })
  const firstLine = Promise.race([once(lines, 'line'), failed, ended, timeout]).finally(() => {
    clearTimeout(timer)
    for (const each of [child, child.stdin, child.stdout]) each.unref() // tests that are over do not wait for it
  })
  const [first] = await firstLine
  const said = readyIn(first)
  if (said?.control) return said
  throw new Error(`barnabas (${line}) said ${JSON.stringify(first)} and not that it is ready: ${OTHERWISE}`)
}

/** Return the value of a ready line; undefined if the line is none. */
function readyIn(line) {
  try {
    return JSON.parse(line).ready
  } catch {
    return undefined
  }
}

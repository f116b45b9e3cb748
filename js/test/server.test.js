import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { command } from '../server.js'

const MISSING =
  'barnabas is not on the PATH: install it with the extras control and peers, or set BARNABAS_WHEEL ' +
  '(its wheel, for uvx or pipx on the PATH) or BARNABAS_IMAGE (its image, for docker or podman on the PATH)'

for (const [programs, environment, expected] of [
  ['barnabas uvx', { BARNABAS: 'python3  -m\tbarnabas' }, 'python3 -m barnabas'],
  ['barnabas uvx', { BARNABAS_WHEEL: 'a.whl' }, 'barnabas'],
  ['uvx pipx docker', { BARNABAS_WHEEL: 'a.whl', BARNABAS_IMAGE: 'a:1' }, 'uvx --from a.whl[control,peers] barnabas'],
  ['pipx docker', { BARNABAS_WHEEL: 'a.whl[tls]', BARNABAS_IMAGE: 'a:1' }, 'pipx run --spec a.whl[tls] barnabas'],
  ['docker podman', { BARNABAS_WHEEL: 'a.whl', BARNABAS_IMAGE: 'a:1' }, 'docker run --rm -i --network host a:1'],
  ['podman', { BARNABAS_IMAGE: 'a:1' }, 'podman run --rm -i --network host a:1'],
  ['uvx pipx docker podman', {}, MISSING]
]) {
  test(`with ${programs} and ${JSON.stringify(environment)}`, t => {
    const PATH = mkdtempSync(join(tmpdir(), 'barnabas-'))
    t.after(() => rmSync(PATH, { recursive: true }))
    for (const program of programs.split(' ')) writeFileSync(join(PATH, program), '#!/bin/sh\n', { mode: 0o755 })
    const run = () => command({ PATH, ...environment }).join(' ')
    if (expected === MISSING) assert.throws(run, { message: MISSING })
    else assert.equal(run(), expected)
  })
}

for (const [program, expected] of [
  ['echo hello', /^Error: barnabas \(echo hello .*\) said "hello .*" and not that it is ready: set BARNABAS to the command that starts barnabas$/],
  ['printf {"ready":1}\\n%.0s', /^Error: barnabas \(printf .*\) said "{\\"ready\\":1}" and not that it is ready: set BARNABAS/],
  ['true', /^Error: barnabas was not ready \(true .*\): exit code 0; .*, or set BARNABAS to the command that starts barnabas$/],
  ['no-such-program', /^Error: barnabas can't be started: .* ENOENT; set BARNABAS to the command that starts barnabas$/]
]) {
  test(`the program ${program}, which is not barnabas, is named`, async () => {
    process.env.BARNABAS = program
    const { server } = await import(`../server.js?${encodeURIComponent(program)}`)
    await assert.rejects(server(), expected)
  })
}

for (const [seconds, expected] of [
  ['0.1', /^Error: barnabas \(sh -c cat .*\) was not ready after 0\.1 s: set BARNABAS .*, or BARNABAS_START_SECONDS to a longer time$/],
  ['soon', /^Error: BARNABAS_START_SECONDS is no number above 0, up to 1000000: soon$/],
  ['1e400', /^Error: BARNABAS_START_SECONDS is no number above 0, up to 1000000: 1e400$/],
  ['-1', /^Error: BARNABAS_START_SECONDS is no number above 0, up to 1000000: -1$/]
]) {
  test(`a program that prints nothing is waited for ${seconds} seconds`, async t => {
    t.after(() => delete process.env.BARNABAS_START_SECONDS)
    Object.assign(process.env, { BARNABAS: 'sh -c cat', BARNABAS_START_SECONDS: seconds })
    const { server } = await import(`../server.js?seconds=${seconds}`)
    await assert.rejects(server(), expected)
  })
}

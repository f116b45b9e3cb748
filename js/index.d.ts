import type { TestContext } from 'node:test'

export interface Exchange {
  api: string
  version: number
  client_id: string | null
  user: string | null
  broker: number | null
  connection: number
  latency_ms: number | null
  error: string | null
  rules: string[]
  request: Record<string, unknown> | null
  response: Record<string, unknown> | null
}

export interface Rule {
  name: string
  matched: number
  fired: number
}

export interface Finding {
  check: string
  severity: string
  what: string
  advice: string
}

export interface Retries {
  api?: string
  clientId?: string
  atLeast?: number
  atMost?: number
}

export declare const options: { command: string[]; arguments: string[] }

export declare function start(t: TestContext, scenario?: string): Promise<Proxy>

export declare function shared(scenario?: string): (t: TestContext) => Promise<Proxy>

export declare class Proxy {
  readonly bootstrapServer: string
  readonly cluster: string
  rule(text: string): Promise<void>
  rules(): Promise<Rule[]>
  fired(name: string): Promise<number>
  exchanges(filter?: string): Promise<Exchange[]>
  waitFor(filter: string, count?: number, timeoutMs?: number): Promise<Exchange[]>
  assertRetries(may: Retries): Promise<void>
  assertNoDuplicates(): Promise<void>
  assertFindings(...checks: string[]): Promise<void>
  report(name?: string): Promise<string>
  end(): Promise<{ capture?: string; ended: { rules: Rule[]; findings: Finding[] } }>
}

// Which programs run, with which cases.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export function plan(build, { only, cases, backend, quick, trace }) {
  const list = readFileSync(join(build, 'web/tests/native/programs.h'), 'utf8')
  const names = only ? only.split(',') : [...list.matchAll(/PROGRAM\((\w+)\)/g)].map((match) => match[1]).filter((name) => name != 'figures')
  return names.map((name) => ({
    name,
    arguments: [name, ...(name == 'figures' ? [] : [backend]), ...(cases ? cases.split(',') : [])],
    environment: { TEXSOLVE_TEST_BRIEF: '1' },
    requires: true,
    trace,
  }))
}

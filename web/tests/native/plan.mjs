// Which programs run, for how long, and what is known to fail in a browser.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// Cases that cannot pass, with the reason. A case of this list that passes is a failure too.
export const expected = {
  'test_context gl': { threads_in_turn: 'a page has one thread' },
  'test_context gl-current': {
    threads_in_turn: 'a page has one thread',
    not_current: 'JavaScript has no current context, so the library selects its own',
  },
  'test_arrays gl': { too_large: 'size_t has 32 bits' },
}

// A minute: a program of every room.
const quick = ['test_exact', 'test_webgl', 'test_context', 'test_vector', 'test_cg_reasons', 'test_ilu', 'test_amg_hierarchy',
  'test_mesh_cuts', 'test_fluid_operations', 'test_lcp_errors']

// Programs that take more than half a minute on a busy machine with two cores, and draw what others draw with other numbers.
// They run with --slow.
const slow = ['test_alloc', 'test_poll_times', 'test_pairs', 'test_pair_products', 'test_gmres_breakdown', 'test_negated',
  'test_precision', 'test_digits', 'test_far', 'test_preconditioner', 'test_amg', 'test_multigrid',
  'test_multigrid_factors', 'test_multigrid_levels', 'test_auto_amg', 'test_fluid', 'test_lcp',
  'test_lcp_acceleration', 'test_lcp_scales', 'test_lcp_friction', 'test_lcp_friction_schemes',
  'test_lcp_reuse', 'test_fluid_flow']

// In the application's context.
const current = ['test_webgl', 'test_context', 'test_vector']

export function plan(build, options) {
  const list = readFileSync(join(build, 'web/tests/native/programs.h'), 'utf8')
  const all = [...list.matchAll(/PROGRAM\((\w+)\)/g)].map((match) => match[1])
  const one = (name, backend) => ({
    name: `${name} ${backend}`,
    expected: expected[`${name} ${backend}`] ?? {},
    arguments: [name, ...(name == 'figures' ? [] : [backend]), ...(options.cases ? options.cases.split(',') : [])],
    environment: { TEXSOLVE_TEST_BRIEF: '1' },
    trace: options.trace,
  })
  if (options.figures) return [one('figures', 'gl')]
  if (options.only) return options.only.split(',').map((name) => one(name, options.backend))
  const names = options.quick ? quick : all.filter((name) => name != 'figures' && (options.slow || !slow.includes(name)))
  return [...names.map((name) => one(name, 'gl')), ...current.map((name) => one(name, 'gl-current'))]
}

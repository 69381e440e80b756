// Which programs run, with which cases.
export function plan({ only, cases, backend, quick, trace }) {
  const names = only ? only.split(',') : ['test_cg']
  return names.map((name) => ({
    name,
    arguments: [name, backend, ...(cases ? cases.split(',') : [])],
    environment: { TEXSOLVE_TEST_BRIEF: '1' },
    requires: true,
    trace,
  }))
}

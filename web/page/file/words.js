// Numbers, figures and advice in words.

const ADVICE = [
  [
    /maximum number of iterations/,
    'Allow more iterations, or choose another preconditioner: amg for elliptic problems, ilu for others.'
  ],
  [
    /stagnated/,
    'The tolerance is below what this precision reaches: choose mixed or double precision, or a larger tolerance.'
  ],
  [/not positive definite/, 'Choose minres for a symmetric matrix, or bicgstab, idr or gmres.'],
  [/not symmetric/, 'Choose bicgstab, idr or gmres.'],
  [/diagonal/, 'Choose ilu, or no preconditioner with minres, gmres or idr.'],
  [/singular/, 'Choose the right-hand side “A times a known x”: it is in the range of A.'],
  [/diverged|breakdown/, 'Choose idr or gmres, and ilu as the preconditioner.']
]

export const whole = (x) => Math.round(x).toLocaleString('en')
export const seconds = (s) => (s < 1 ? `${Math.max(1, Math.round(1000 * s))} ms` : `${s.toFixed(2)} s`)
export const bytes = (n) => (n < 1e6 ? `${Math.round(n / 1e3)} kB` : `${(n / 1e6).toFixed(n < 1e7 ? 1 : 0)} MB`)
// Two digits.
export const round = (x) => Number(x.toPrecision(2))
export const plain = (x) => (x >= 1e-3 && x < 1e5 ? String(Number(x.toPrecision(3))) : small(x))
export const small = (x) => (x === 0 ? '0' : x.toExponential(2))

// What helps after a solve that did not converge, by its reason.
export const advise = (reason) => ADVICE.find(([pattern]) => pattern.test(reason))?.[1] ?? ''

// What the library says about the device, as `texsolve info` does.
export function infoRows(info) {
  const yes = (value) => (typeof value === 'boolean' ? (value ? 'yes' : 'no') : value)
  return [
    ['texsolve', info.version],
    ['backend', info.backend],
    ['device', info.device],
    ['driver', info.driver],
    ['why', info.reason],
    ['exact sums', yes(info.exactSums)],
    ['hardware', yes(info.isHardware)],
    ['stops within a solve', yes(info.canPause)],
    ['WebAssembly memory', info.bytesMemory && bytes(info.bytesMemory)],
    ['shaders compiled in', info.secondsShaders && seconds(info.secondsShaders)]
  ].filter(([, value]) => value !== undefined && value !== '' && value !== 0)
}

// Where the time to the first picture of the fluid goes: node web/tests/browser/start.mjs [ROUNDS|calls [PAGE...]]
//
// PAGE: assembled pages, default build-web/page, measured in turn, so that a load of the machine meets all alike. Each round
// starts a browser with an empty cache and then again with a filled one. Prints medians in ms since the navigation:
//   shell      main.js begins
//   context    getContext returned, and how long it took
//   module     the WebAssembly module is compiled
//   compile    the last program was given to the compiler before the first picture
//   waited     sum of the time in calls that wait for the GPU: queries of programs and of shaders, and read-backs
//   picture    the first frame is drawn
// calls: prints how often the first picture calls each function of WebGL, and their times in ms, from one start.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { chromium } from 'playwright-core'
import { flags, page, serve } from './browser.mjs'

const [rounds = 3, ...given] = process.argv.slice(2)
const pages = given.length ? given : [page]

function instrument() {
  const found = window.texsolveStart = { waited: {}, programs: 0 }
  const now = () => performance.now()
  const getContext = HTMLCanvasElement.prototype.getContext
  HTMLCanvasElement.prototype.getContext = function (...values) {
    const start = now()
    const gl = getContext.apply(this, values)
    if (values[0] === 'webgl2' && !found.context) Object.assign(found, { context: now(), contextTook: now() - start })
    return gl
  }
  const gl = WebGL2RenderingContext.prototype
  for (const name of ['getProgramParameter', 'getShaderParameter', 'getProgramInfoLog', 'getActiveUniform', 'getUniformLocation',
    'readPixels', 'getBufferSubData', 'checkFramebufferStatus', 'getParameter', 'getError', 'getExtension', 'getShaderPrecisionFormat']) {
    const original = gl[name]
    gl[name] = function (...values) {
      const start = now()
      const result = original.apply(this, values)
      if (found.isShown) return result
      const one = found.waited[name] ??= { count: 0, ms: 0, first: start }
      one.count++
      one.ms += now() - start
      one.last = now()
      return result
    }
  }
  const link = gl.linkProgram
  gl.linkProgram = function (program) {
    link.call(this, program)
    if (found.isShown) return
    found.programs++
    found.compileFirst ??= now()
    found.compile = now()
  }
  const compile = WebAssembly.compileStreaming
  WebAssembly.compileStreaming = async (source) => {
    found.moduleAsked = now()
    const module = await compile(source)
    found.module = now()
    return module
  }
  const mark = performance.mark
  performance.mark = function (name) {
    found.isShown = true
    return mark.apply(this, arguments)
  }
}

function instrumentCalls() {
  const calls = window.texsolveCalls = {}
  let isShown = false
  const gl = WebGL2RenderingContext.prototype
  for (const name of Object.getOwnPropertyNames(gl)) {
    const { value } = Object.getOwnPropertyDescriptor(gl, name)
    if (typeof value !== 'function' || name === 'constructor') continue
    gl[name] = function (...values) {
      if (isShown) return value.apply(this, values)
      const start = performance.now()
      const result = value.apply(this, values)
      const one = calls[name] ??= { count: 0, ms: 0 }
      one.count++
      one.ms += performance.now() - start
      return result
    }
  }
  const mark = performance.mark
  performance.mark = function () {
    isShown = true
    return mark.apply(this, arguments)
  }
}

async function measure(folder, url, script = instrument) {
  const context = await chromium.launchPersistentContext(folder, { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true, args: flags, viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' })
  try {
    const tab = await context.newPage()
    await tab.addInitScript(script)
    await tab.goto(url + '#fluid')
    await tab.waitForFunction(() => performance.getEntriesByName('first picture').length, undefined, { timeout: 60000, polling: 50 })
    return await tab.evaluate(() => {
      if (window.texsolveCalls) return window.texsolveCalls
      const { waited, isShown, ...marks } = window.texsolveStart
      const ofFile = (name, key) => performance.getEntriesByType('resource').find((entry) => entry.name.endsWith(name))?.[key]
      for (const [name, { count, ms, first, last }] of Object.entries(waited))
        if (ms > 20) Object.assign(marks, { [name]: ms, [name + 'Count']: count, [name + 'First']: first, [name + 'Last']: last })
      marks.waited = Object.values(waited).reduce((sum, { ms }) => sum + ms, 0)
      return { shell: ofFile('main.js', 'responseEnd'), wasmArrived: ofFile('.wasm', 'responseEnd'), ...marks,
        paint: performance.getEntriesByName('first-paint')[0]?.startTime,
        picture: performance.getEntriesByName('first picture')[0].startTime }
    })
  } finally {
    await context.close()
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

async function printCalls(server) {
  const folder = await mkdtemp(join(tmpdir(), 'texsolve-start-'))
  try {
    const calls = Object.entries(await measure(folder, server.url, instrumentCalls))
    for (const [name, { count, ms }] of calls.sort(([, a], [, b]) => b.count - a.count)) console.log(name, count, ms.toFixed(1))
    console.log('all', calls.reduce((sum, [, { count }]) => sum + count, 0))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const found = new Map()
const servers = await Promise.all(pages.map(serve))
try {
  if (rounds === 'calls') for (const server of servers) await printCalls(server)
  for (let round = 0; round < rounds; round++)
    for (const [k, server] of servers.entries()) {
      const folder = await mkdtemp(join(tmpdir(), 'texsolve-start-'))
      try {
        for (const cache of ['cold', 'warm']) {
          const key = `${cache} ${basename(pages[k]) === 'page' ? basename(dirname(pages[k])) : basename(pages[k])}`
          const marks = await measure(folder, server.url)
          if (!found.has(key)) found.set(key, [])
          found.get(key).push(marks)
          console.log(key, Math.round(marks.picture))
        }
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    }
} finally {
  await Promise.all(servers.map((server) => server.close()))
}
for (const [key, runs] of [...found].sort()) {
  const names = Object.keys(runs[0])
  console.log(key, JSON.stringify(Object.fromEntries(names.map((name) => [name,
    Math.round(median(runs.map((run) => run[name] ?? NaN)))]))))
}

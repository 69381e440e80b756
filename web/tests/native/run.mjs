// Runs the C tests (native_tests) in Chromium, and fails if one fails or if the browser warns about WebGL.
//   node run.mjs BUILD_DIRECTORY [--quick | --slow | --figures | --only NAME[,NAME...] [--cases CASE,...] [--backend gl]]
//                [--swiftshader] [--trace] [--verbose]
// Chromium prints console messages to its standard error, so WebGL's warnings are found there, without a question to the
// driver after each call.
import { spawn } from 'node:child_process'
import { createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { plan } from './plan.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean' },
    swiftshader: { type: 'boolean' },
    slow: { type: 'boolean' },
    figures: { type: 'boolean' },
    trace: { type: 'boolean' },
    verbose: { type: 'boolean' },
    only: { type: 'string' },
    cases: { type: 'string' },
    backend: { type: 'string', default: 'gl' },
  },
})
const build = positionals[0] ?? 'build-web'
const files = { '/': join(here, 'page.html') }
for (const name of ['native_tests.js', 'native_tests.wasm']) files[`/${name}`] = join(build, 'web/tests/native', name)
for (const file of Object.values(files))
  if (!existsSync(file)) {
    console.error(`${file} does not exist: ninja -C ${build} native_tests`)
    process.exit(2)
  }

// ---- The browser ----

function startBrowser(url) {
  const profile = mkdtempSync(join(tmpdir(), 'texsolve-chromium-'))
  const renderer = options.swiftshader ? ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'] : ['--use-angle=gl']
  const browser = spawn(process.env.CHROMIUM ?? '/usr/bin/chromium', [
    '--headless', '--no-sandbox', '--disable-gpu-sandbox', '--disable-quic', '--no-first-run', '--disable-sync',
    '--disable-background-networking', '--disable-component-update', '--enable-logging=stderr', '--ignore-gpu-blocklist',
    `--user-data-dir=${profile}`, ...renderer, url,
  ], { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  browser.closed = new Promise((resolve) => browser.on('exit', resolve))
  browser.stop = async () => {
    try { process.kill(-browser.pid) } catch { /* it has ended */ }
    await browser.closed
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
  return browser
}

// ---- The tests ----

const programs = plan(build, options)
const failures = []
const warnings = []
let current = null
let next = 0

function report({ status, lines, seconds }) {
  const { name, expected } = current
  const said = [...lines]
  const failed = lines.map((line) => /^FAILED (\w+)$/.exec(line)?.[1]).filter(Boolean)
  const ran = (word) => lines.includes(`passed ${word}`)
  const asExpected = status === 1 && failed.length > 0 && failed.every((word) => word in expected)
  if (!options.cases) said.push(...Object.keys(expected).filter(ran).map((word) => `${word} passed, although ${expected[word]}`))
  warnings.push(...lines.filter((line) => line.startsWith('WebGL error')).map((line) => line.split('\n')[0]))
  if (warnings.length) said.push(...warnings.map((text) => `console: ${text}`))
  const passed = (status === 0 || asExpected) && !warnings.length && said.length === lines.length
  const known = asExpected ? `, but ${failed.map((word) => `${word}: ${expected[word]}`).join('; ')}` : ''
  console.log(`${passed ? 'passed' : 'FAILED'} ${name} (${seconds.toFixed(1)} s)${known}`)
  if (!passed || options.verbose) console.log(said.map((line) => `    ${line}`).join('\n'))
  if (!passed) failures.push(name)
  warnings.length = 0
  current = null
}

const types = { '/': 'text/html', '/native_tests.js': 'text/javascript', '/native_tests.wasm': 'application/wasm' }
const done = Promise.withResolvers ? Promise.withResolvers() : (() => {
  const promise = {}
  promise.promise = new Promise((resolve, reject) => Object.assign(promise, { resolve, reject }))
  return promise
})()

const server = createServer(async (request, response) => {
  if (files[request.url]) {
    response.writeHead(200, { 'Content-Type': types[request.url] })
    createReadStream(files[request.url]).pipe(response)
  } else if (request.url === '/next') {
    current = programs[next++] ?? null
    response.end(JSON.stringify(current))
  } else if (request.method === 'POST') {
    let body = ''
    for await (const chunk of request) body += chunk
    response.end()
    if (request.url === '/output') report(JSON.parse(body))
    if (request.url === '/done') done.resolve()
  } else {
    response.writeHead(404).end()
  }
})

await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const start = performance.now()
const browser = startBrowser(`http://127.0.0.1:${server.address().port}/`)
let rest = ''
browser.stderr.on('data', (data) => {
  const lines = (rest + data).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    if (options.verbose && line.includes("CONSOLE")) console.log(`    chromium: ${line}`)
    const console_ = /CONSOLE.*?\] ?"(.*)", source/.exec(line)
    if (console_ && /WebGL|GL_INVALID|GL Driver|error/i.test(console_[1]) && !isExpected(console_[1])) warnings.push(console_[1])
  }
})
browser.closed.then((code) => done.reject(new Error(`Chromium ended (${code}) during ${current?.name}`)))

// The page itself gives the contexts of a program back.
function isExpected(text) {
  return text.includes('CONTEXT_LOST_WEBGL: loseContext')
}

let problem = null
try {
  await done.promise
} catch (error) {
  problem = error
}
await browser.stop()
server.close()
const seconds = ((performance.now() - start) / 1000).toFixed(0)
if (problem) console.error(problem.message)
console.log(`${next - 1 - failures.length} of ${programs.length} programs passed in ${seconds} s` +
  (failures.length ? `; failed: ${failures.join(', ')}` : ''))
process.exit(problem || failures.length ? 1 : 0)

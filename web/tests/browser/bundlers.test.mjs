// Projects of a user outside the repository: the packed package, built by Vite, webpack and esbuild, and opened in Chromium.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { packagePath, start, webPath } from './support.mjs'

const execute = promisify(execFile)
const tool = name => path.join(webPath, 'node_modules/.bin', name)
const viteNeeds = Number(process.versions.node.split('.')[0]) < 20 && 'Vite 8 needs Node 20'
let directory, archive, browser

before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'texsolve-project-'))
  const { stdout } = await execute('npm', ['pack', packagePath, '--silent'], { cwd: directory })
  archive = path.join(directory, stdout.trim())
  browser = await start({ '/projects/': directory })
})
after(async () => {
  await browser?.stop()
  await rm(directory, { recursive: true, force: true })
})

/** A new project that has the package from its archive. */
async function project(name, source, files = {}) {
  const root = path.join(directory, name)
  await mkdir(root)
  await writeFile(path.join(root, 'package.json'), JSON.stringify({ name, private: true, type: 'module' }))
  await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: root })
  await writeFile(path.join(root, 'main.js'), source)
  await writeFile(path.join(root, 'index.html'), '<!doctype html><link rel="icon" href="data:,"><pre id="out"></pre><script type="module" src="./main.js"></script>\n')
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(root, file), text)
  return root
}

const program = from => `import { open } from '${from}'
const ts = await open({ backend: new URLSearchParams(location.search).get('backend') ?? 'auto' })
const A = ts.matrix({ rowOffsets: new Int32Array([0, 2, 5, 7]), columnIndices: new Int32Array([0, 1, 0, 1, 2, 1, 2]),
  values: new Float64Array([2, -1, -1, 2, -1, -1, 2]) })
const r = await A.solve(new Float64Array([1, 2, 3]), { preconditioner: 'amg', rtol: 1e-8 })
document.querySelector('#out').textContent = JSON.stringify({ x: [...r.x].map(value => value.toFixed(4)), backend: ts.info.backend })
`

/** Opens what a project has built, and checks its answer on both backends. */
async function check(root, html) {
  if (html) await writeFile(path.join(root, 'dist/index.html'), html)
  for (const backend of ['cpu', 'gl']) {
    const page = await browser.newPage(`projects/${path.basename(root)}/dist/?backend=${backend}`)
    await page.waitForFunction(() => document.querySelector('#out').textContent, undefined, { timeout: 30000 })
      .catch(error => { throw new Error(`no answer; the console: ${browser.warnings.join('; ')}`, { cause: error }) })
    assert.deepEqual(JSON.parse(await page.textContent('#out')), { x: ['2.5000', '4.0000', '3.5000'], backend })
    await page.close()
  }
  assert.deepEqual(browser.warnings.splice(0), [])
}

const html = '<!doctype html><link rel="icon" href="data:,"><pre id="out"></pre><script type="module" src="bundle.js"></script>\n'

test('Vite: a build', { skip: viteNeeds }, async () => {
  const root = await project('vite', program('texsolve'), { 'vite.config.js': 'export default { base: "./", build: { target: "es2022" } }\n' })
  await execute(tool('vite'), ['build'], { cwd: root })
  const assets = await readdir(path.join(root, 'dist/assets'))
  assert.equal(assets.filter(name => name.endsWith('.wasm')).length, 1, assets.join(' '))
  await check(root)
})

test('Vite: the development server', { skip: viteNeeds }, async () => {
  const root = await project('vite-dev', program('texsolve'), { 'vite.config.js': 'export default { optimizeDeps: { exclude: ["texsolve"] } }\n' })
  const server = spawn(tool('vite'), ['--port', '0', '--host', '127.0.0.1'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NO_COLOR: '1' } })
  try {
    const address = await new Promise((resolve, reject) => {
      let text = ''
      server.stdout.on('data', data => {
        text += data
        const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(text)
        if (found) resolve(found[0])
      })
      server.once('exit', code => reject(new Error(`vite ended with ${code}: ${text}`)))
    })
    const page = await browser.newPage()
    await page.goto(address)
    await page.waitForFunction(() => document.querySelector('#out').textContent, undefined, { timeout: 60000 })
    assert.match(await page.textContent('#out'), /2\.5000.*4\.0000.*3\.5000/)
    await page.close()
    assert.deepEqual(browser.warnings.splice(0), [])
  } finally {
    server.kill()
  }
})

test('webpack', async () => {
  const root = await project('webpack', program('texsolve'))
  const { default: webpack } = await import('webpack')
  const stats = await new Promise((resolve, reject) => webpack({ context: root, mode: 'production', entry: './main.js', target: 'web',
    experiments: { outputModule: true, topLevelAwait: true }, output: { path: path.join(root, 'dist'), filename: 'bundle.js', module: true, publicPath: 'auto' } },
  (error, found) => error ? reject(error) : resolve(found)))
  const report = stats.toJson({ all: false, errors: true, warnings: true })
  assert.deepEqual(report.errors.map(error => error.message), [])
  assert.deepEqual(report.warnings.map(warning => warning.message).filter(text => !/size/.test(text)), [])
  await check(root, html)
})

test('esbuild, with the module copied beside the bundle', async () => {
  const root = await project('esbuild', program('texsolve'))
  const { build } = await import('esbuild')
  const { warnings } = await build({ absWorkingDir: root, entryPoints: ['main.js'], bundle: true, format: 'esm', outfile: 'dist/bundle.js', minify: true })
  assert.deepEqual(warnings, [])
  await cp(path.join(root, 'node_modules/texsolve/texsolve.wasm'), path.join(root, 'dist/texsolve.wasm'))
  await check(root, html)
})

test('esbuild, the single file', async () => {
  const root = await project('esbuild-single', program('texsolve/single'))
  const { build } = await import('esbuild')
  const { warnings } = await build({ absWorkingDir: root, entryPoints: ['main.js'], bundle: true, format: 'esm', outfile: 'dist/bundle.js', minify: true })
  assert.deepEqual(warnings, [])
  await check(root, html)
})

test('Node, from the archive', async () => {
  const root = await project('node', '', { 'main.mjs': `import { open } from 'texsolve'
const ts = await open()
const A = ts.matrix({ rowOffsets: new Int32Array([0, 1]), columnIndices: new Int32Array([0]), values: new Float64Array([4]) })
console.log((await A.solve(new Float64Array([2]))).x[0])
` })
  const { stdout } = await execute('node', ['main.mjs'], { cwd: root })
  assert.equal(stdout.trim(), '0.5')
})

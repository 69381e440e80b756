// Chromium and a static server for the tests of the page.
//
// CHROMIUM: the browser's path, default /usr/bin/chromium. TEXSOLVE_PAGE: the assembled page, default build-web/page.
// TEXSOLVE_ANGLE: 'gl' (default; needs a display, for example Xvfb) or 'swiftshader'.

import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

export const page = process.env.TEXSOLVE_PAGE ?? fileURLToPath(new URL('../../../build-web/page', import.meta.url))

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml', '.webmanifest': 'application/manifest+json', '.png': 'image/png' }

/** Serves a folder on a free port of this machine. Returns { url, close }. */
export async function serve(root = page) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname))
    const name = join(root, path.endsWith('/') ? path + 'index.html' : path)
    try {
      const contents = await readFile(name)
      response.writeHead(200, { 'content-type': types[extname(name)] ?? 'application/octet-stream', 'cache-control': 'no-cache' })
      response.end(contents)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => new Promise((resolve) => {
    server.closeAllConnections()
    server.close(resolve)
  }) }
}

const graphics = (process.env.TEXSOLVE_ANGLE ?? 'gl') === 'gl' ? ['--use-angle=gl', '--ignore-gpu-blocklist']
  : ['--use-angle=swiftshader', '--enable-unsafe-swiftshader']

export const flags = ['--no-sandbox', '--disable-gpu-sandbox', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--enable-precise-memory-info', ...graphics]

export function launch(options = {}) {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, ...options,
    args: [...flags, ...options.args ?? []] })
}

/** Opens the page with `hash` in a new context, at the lowest quality, which software rendering can follow. Messages of the console that are warnings or errors are collected in
 * `problems`; requests to other hosts in `foreign`. */
export async function openPage(browser, url, hash = '', options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: 'block', ...options })
  const tab = await context.newPage()
  const problems = [], foreign = []
  tab.on('console', (message) => {
    const text = message.text()
    if (['warning', 'error'].includes(message.type()) && !/Service Worker|will not work offline|GPU stall|performance warning/.test(text)) problems.push(text)
  })
  tab.on('pageerror', (error) => problems.push(error.message))
  tab.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(blob|data):/.test(request.url())) foreign.push(request.url())
  })
  await tab.goto(`${url}?quality=0${hash && '#' + hash}`)
  return { tab, context, problems, foreign }
}

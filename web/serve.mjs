// A static server: node serve.mjs DIRECTORY [PORT]. Tests import serve().
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css',
  '.wasm': 'application/wasm', '.json': 'application/json', '.png': 'image/png', '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json' }

/** The file of an address, or undefined. `places` maps the begin of an address to a directory. */
async function find(places, address) {
  const name = decodeURIComponent(new URL(address, 'http://localhost').pathname)
  for (const [begin, directory] of Object.entries(places)) {
    if (!name.startsWith(begin)) continue
    const file = path.join(directory, path.normalize(`/${name.slice(begin.length)}`))
    for (const candidate of [file, path.join(file, 'index.html')]) {
      const found = await stat(candidate).catch(() => undefined)
      if (found?.isFile()) return candidate
    }
  }
  return undefined
}

/** Serves directories at localhost. Port 0 chooses a free one. Returns { address, close }. */
export async function serve(places, port = 0) {
  const server = createServer(async (request, response) => {
    const file = await find(places, request.url).catch(() => undefined)
    if (!file) return response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not found')
    response.writeHead(200, { 'Content-Type': types[path.extname(file)] ?? 'application/octet-stream', 'Cache-Control': 'no-cache' })
    return createReadStream(file).on('error', () => response.destroy()).pipe(response)
  })
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return { address: `http://localhost:${server.address().port}/`, close: () => new Promise(resolve => server.close(resolve).closeAllConnections()) }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [directory, port = '8080'] = process.argv.slice(2)
  if (!directory) {
    console.error('usage: node serve.mjs DIRECTORY [PORT]')
    process.exit(2)
  }
  const found = await serve({ '/': directory }, Number(port)).catch(error => {
    console.error(error.code === 'EADDRINUSE' ? `port ${port} is in use; --port selects another one` : error.message)
    process.exit(1)
  })
  console.log(`Open ${found.address} (Ctrl+C ends the server)`)
}

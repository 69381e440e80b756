// A matrix file as it is downloaded: plain, .gz, or the first .mtx of a .tar.gz, as the SuiteSparse collection has it.

export const MOST_BYTES = 1.2e9 // unpacked

const BLOCK = 512

const text = (bytes) => new TextDecoder('latin1').decode(bytes).replace(/\0.*$/s, '')

/** The files of a tar archive: [{ name, bytes }]. */
export function readTar(bytes) {
  const files = []
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at];) {
    const size = parseInt(text(bytes.subarray(at + 124, at + 136)).trim(), 8)
    if (!(size >= 0)) throw new Error('the archive is damaged: a file has no size')
    if (at + BLOCK + size > bytes.length) throw new Error('the archive ends within a file')
    if (bytes[at + 156] === 48 || bytes[at + 156] === 0)
      files.push({ name: text(bytes.subarray(at, at + 100)), bytes: bytes.subarray(at + BLOCK, at + BLOCK + size) })
    at += BLOCK + BLOCK * Math.ceil(size / BLOCK)
  }
  return files
}

function damaged(error, signal) {
  if (signal?.aborted) return Object.assign(new Error('aborted'), { code: 'aborted' })
  return new Error(`the compressed file is damaged: ${error.message}`)
}

/** Reads a stream of bytes; the reader gives at least `least` bytes at first, if there are as many. */
async function* pieces(stream, least, signal) {
  const reader = stream.getReader()
  let first = new Uint8Array(0),
    total = 0
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw damaged(error, signal)
    })
    if (done) break
    total += value.length
    if (total > MOST_BYTES) throw new Error(`the file has more than ${MOST_BYTES / 1e9} GB when it is unpacked`)
    if (!first) yield value
    else {
      const longer = new Uint8Array(first.length + value.length)
      longer.set(first)
      longer.set(value, first.length)
      first = longer.length < least ? longer : null
      if (!first) yield longer
    }
  }
  if (first?.length) yield first
}

async function join(iterator, first) {
  const parts = [first]
  for await (const part of iterator) parts.push(part)
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

const isTar = (bytes) => text(bytes.subarray(257, 262)) === 'ustar'

function streamOf(iterator, first) {
  return new ReadableStream({
    start: (to) => to.enqueue(first),
    pull: async (to) => {
      const { done, value } = await iterator.next()
      if (done) to.close()
      else to.enqueue(value)
    },
    cancel: () => iterator.return()
  })
}

/** The matrix of an archive. The collection also packs right-hand sides, NAME_b.mtx: the matrix has the archive's name. */
function pick(files, name) {
  const matrices = files.filter((one) => /\.(mtx|mm)$/i.test(one.name))
  const found = matrices.find((one) => one.name.replace(/^.*\//, '').replace(/\.[^.]*$/, '') === name) ?? matrices[0]
  if (!found) throw new Error(`the archive ${name} has no file with the end .mtx`)
  return { name: found.name.replace(/^.*\//, ''), source: found.bytes }
}

/** Returns { name, source } of the matrix in a File, where source is a Blob, a stream or bytes. */
export async function unpack(file, signal) {
  if (file.size > MOST_BYTES)
    throw new Error(`"${file.name}" has ${(file.size / 1e9).toFixed(1)} GB; this page reads up to ${MOST_BYTES / 1e9} GB`)
  if (!file.size) throw new Error(`"${file.name}" is empty`)
  const name = file.name.replace(/\.(tgz|tar\.gz|gz|tar)$/i, '')
  const begin = new Uint8Array(await file.slice(0, BLOCK).arrayBuffer()),
    isPacked = begin[0] === 0x1f && begin[1] === 0x8b
  if (!isPacked && !isTar(begin)) return { name: file.name, source: file }
  if (!isPacked) return pick(readTar(new Uint8Array(await file.arrayBuffer())), name)
  const iterator = pieces(file.stream().pipeThrough(new DecompressionStream('gzip')), BLOCK, signal)
  const { done, value: first } = await iterator.next()
  if (done) throw new Error(`"${file.name}" is empty`)
  if (isTar(first)) return pick(readTar(await join(iterator, first)), name)
  return { name, source: streamOf(iterator, first) }
}

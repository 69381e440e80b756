// A matrix file as it is downloaded: plain, .gz, or the first .mtx of a .tar.gz, as the SuiteSparse collection has it.

export const MOST_BYTES = 1.2e9 // unpacked

const BLOCK = 512

const text = (bytes) => new TextDecoder('latin1').decode(bytes).replace(/\0.*$/s, '')

/** The files of a tar archive: [{ name, bytes }]. */
export function readTar(bytes) {
  const files = []
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at]; ) {
    const size = parseInt(text(bytes.subarray(at + 124, at + 136)).trim(), 8)
    if (!(size >= 0)) throw new Error('the archive is damaged: a file has no size')
    if (at + BLOCK + size > bytes.length) throw new Error('the archive ends within a file')
    if (bytes[at + 156] === 48 || bytes[at + 156] === 0) files.push({ name: text(bytes.subarray(at, at + 100)), bytes: bytes.subarray(at + BLOCK, at + BLOCK + size) })
    at += BLOCK + BLOCK * Math.ceil(size / BLOCK)
  }
  return files
}

async function inflate(blob, signal) {
  const parts = [], reader = blob.stream().pipeThrough(new DecompressionStream('gzip'), { signal }).getReader()
  let length = 0
  for (;;) {
    let part
    try {
      part = await reader.read()
    } catch (error) {
      if (signal?.aborted) throw Object.assign(new Error('aborted'), { code: 'aborted' })
      throw new Error(`the compressed file is damaged: ${error.message}`)
    }
    if (part.done) break
    length += part.value.length
    if (length > MOST_BYTES) throw new Error(`the file has more than ${MOST_BYTES / 1e9} GB when it is unpacked`)
    parts.push(part.value)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

const isTar = (bytes) => text(bytes.subarray(257, 262)) === 'ustar'

/** Returns { name, bytes } of the matrix in a File or Blob with a name. */
export async function unpack(file, signal) {
  if (file.size > MOST_BYTES) throw new Error(`"${file.name}" has ${(file.size / 1e9).toFixed(1)} GB; this page reads up to ${MOST_BYTES / 1e9} GB`)
  if (!file.size) throw new Error(`"${file.name}" is empty`)
  const begin = new Uint8Array(await file.slice(0, 2).arrayBuffer()), isPacked = begin[0] === 0x1f && begin[1] === 0x8b
  const bytes = isPacked ? await inflate(file, signal) : new Uint8Array(await file.arrayBuffer())
  const name = file.name.replace(/\.(tgz|tar\.gz|gz|tar)$/i, '')
  if (!isTar(bytes)) return { name, bytes }
  const files = readTar(bytes).filter((one) => /\.(mtx|mm)$/i.test(one.name))
  // The collection also packs right-hand sides, NAME_b.mtx: the matrix has the archive's name.
  const found = files.find((one) => one.name.replace(/^.*\//, '').replace(/\.[^.]*$/, '') === name) ?? files[0]
  if (!found) throw new Error(`"${file.name}" has no file with the end .mtx`)
  return { name: found.name.replace(/^.*\//, ''), bytes: found.bytes }
}

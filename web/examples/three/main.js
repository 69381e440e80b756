// A bumpy sphere that flows by its mean curvature while three.js draws it, in one WebGL context and without a copy: the vertex
// shader fetches positions from the texture that the library computed.
import * as THREE from 'three'
import { open } from 'texsolve'

const canvas = document.querySelector('canvas')
const gl = canvas.getContext('webgl2', { antialias: true })
const renderer = new THREE.WebGLRenderer({ canvas, context: gl })
const scene = new THREE.Scene()
const camera = new THREE.PerspectiveCamera(40, 1, 0.1, 20)
camera.position.set(0, 0.6, 4)
camera.lookAt(0, 0, 0)
scene.background = new THREE.Color(0x10151c)

/** A sphere with bumps: { positions, triangles }. */
function bumpy(rings = 64, around = 128) {
  const positions = [0, 1, 0], triangles = []
  for (let j = 1; j < rings; j++) {
    for (let i = 0; i < around; i++) {
      const theta = Math.PI * j / rings, phi = 2 * Math.PI * i / around
      const r = 1 + 0.25 * Math.sin(5 * phi) * Math.sin(theta) ** 3 * Math.cos(4 * theta)
      positions.push(r * Math.sin(theta) * Math.cos(phi), r * Math.cos(theta), r * Math.sin(theta) * Math.sin(phi))
    }
  }
  positions.push(0, -1, 0)
  const at = (j, i) => 1 + (j - 1) * around + i % around, south = positions.length / 3 - 1
  for (let i = 0; i < around; i++) {
    triangles.push(0, at(1, i + 1), at(1, i), south, at(rings - 1, i), at(rings - 1, i + 1))
    for (let j = 1; j < rings - 1; j++) triangles.push(at(j, i), at(j, i + 1), at(j + 1, i), at(j, i + 1), at(j + 1, i + 1), at(j + 1, i))
  }
  return { positions: Float32Array.from(positions), triangles: Uint32Array.from(triangles) }
}

const ts = await open({ gl })
const source = bumpy()
const mesh = ts.mesh(source)

const { texels, region } = mesh
const geometry = new THREE.BufferGeometry()
geometry.setAttribute('position', new THREE.BufferAttribute(source.positions, 3))
geometry.setAttribute('texel', new THREE.BufferAttribute(Float32Array.from(texels, (value, k) => value + (k % 2 ? region.y : region.x)), 2))
geometry.setIndex(new THREE.BufferAttribute(source.triangles, 1))
const field = new THREE.ExternalTexture(region.texture)
const material = new THREE.ShaderMaterial({
  glslVersion: THREE.GLSL3,
  uniforms: { field: { value: field } },
  vertexShader: `
    uniform highp sampler2D field;
    in vec2 texel;
    out vec3 place;
    void main() {
      vec3 moved = texelFetch(field, ivec2(texel), 0).xyz;
      place = (modelViewMatrix * vec4(moved, 1.0)).xyz;
      gl_Position = projectionMatrix * vec4(place, 1.0);
    }`,
  fragmentShader: `
    in vec3 place;
    out vec4 colour;
    void main() {
      vec3 normal = normalize(cross(dFdx(place), dFdy(place)));
      float light = 0.25 + 0.75 * max(dot(normal, normalize(vec3(0.4, 0.7, 0.6))), 0.0);
      colour = vec4(light * vec3(1.0, 0.62, 0.25), 1.0);
    }`
})
const object = new THREE.Mesh(geometry, material)
object.frustumCulled = false
scene.add(object)

let steps = 0
renderer.setAnimationLoop(time => {
  renderer.setSize(innerWidth, innerHeight, false)
  camera.aspect = innerWidth / innerHeight
  camera.updateProjectionMatrix()
  if (steps++ < 300) mesh.step(2e-4)
  field.sourceTexture = mesh.texture // a step may move the positions to another texture
  object.rotation.y = time / 4000
  renderer.render(scene, camera)
})
globalThis.example = { ts, mesh, get steps() { return steps } }

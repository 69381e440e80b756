/* Bodies, one per instance. Boxes and wedges have bevels: each of the 8 corners has three vertices, one on each
 * adjacent face, set back from the other two faces. PASS 0: shadow map; 1: normals and depth seen by the eye;
 * 2: the picture. */
/* box: signs of the corner, and the face's axis; ball: a point of the unit sphere, and 3 */
layout(location = 0) in vec4 corner;
layout(location = 1) in vec4 place;  /* middle of the body; bevel */
layout(location = 2) in vec4 turn;   /* quaternion w, x, y, z */
layout(location = 3) in vec4 size;   /* half edges, taper */
layout(location = 4) in vec4 paint;  /* sRGB; 1 if it is marked */
uniform mat4 to_clip;
#if PASS == 1
uniform mat4 to_eye;
#endif
out vec3 normal;
invariant gl_Position; /* PASS 2 compares its depths with those of PASS 0 */
#if PASS == 1
out vec3 eye;
#elif PASS == 2
out vec3 point, local;
flat out vec4 colour;
flat out float is_ball;
#endif

vec3 turned(vec3 v) { return v + 2.0 * cross(turn.yzw, cross(turn.yzw, v) + turn.x * v); }

/* Sets the corner back by the bevel from the faces other than `axis`. */
vec3 block(vec3 side, int axis, out vec3 outward) {
  vec3 h = size.xyz, back = vec3(place.w);
  back[axis] = 0.0;
  float wide = side.z > 0.0 ? h.x : h.x * size.w;
  /* normal of the inclined face */
  vec3 slope = normalize(vec3(2.0 * side.x * h.z, 0.0, -h.x * (1.0 - size.w)));
  float y = side.y * (h.y - back.y), z = side.z * (h.z - back.z);
  float x = (slope.x * side.x * wide + slope.z * side.z * h.z - back.x - slope.z * z) / slope.x;
  outward = axis == 0 ? slope : axis == 1 ? vec3(0.0, side.y, 0.0) : vec3(0.0, 0.0, side.z);
  return vec3(x, y, z);
}

void main() {
  vec3 outward = corner.xyz, at = size.x * corner.xyz;
  if (corner.w < 2.5) at = block(corner.xyz, int(corner.w), outward);
  vec3 world = place.xyz + turned(at);
  gl_Position = to_clip * vec4(world, 1.0);
  normal = turned(outward);
#if PASS == 1
  eye = (to_eye * vec4(world, 1.0)).xyz;
  normal = mat3(to_eye) * normal;
#elif PASS == 2
  point = world;
  local = at / size.xyz;
  is_ball = corner.w < 2.5 ? 0.0 : 1.0;
  /* Vary the brightness slightly from body to body. */
  float other = fract(sin(float(gl_InstanceID) * 12.9898) * 43758.5453) - 0.5;
  colour = vec4(paint.rgb * (1.0 + 0.10 * other), paint.a);
#endif
}

/* Arrows, one per instance, drawn over everything. Their thickness in pixels does not depend on the
 * distance. */
/* cosine and sine around the axis; part of the arrow, 0: tail, 1: neck, 2: brim, 3: tip */
layout(location = 0) in vec3 ring;
layout(location = 1) in vec4 start;  /* start point; thickness in metres */
layout(location = 2) in vec4 vector; /* vector to the tip; position in the colour map */
uniform mat4 to_clip;
out vec3 normal;
flat out float value;

void main() {
  float length_ = max(length(vector.xyz), 1e-9), head = min(4.0 * start.w, 0.6 * length_);
  vec3 z = vector.xyz / length_, x = normalize(abs(z.z) < 0.9 ? cross(z, vec3(0.0, 0.0, 1.0)) : cross(z, vec3(1.0, 0.0, 0.0)));
  vec3 around = ring.x * x + ring.y * cross(z, x);
  float part = ring.z, wide = part < 1.5 ? 0.5 : part < 2.5 ? 1.35 : 0.0;
  float along = part < 0.5 ? 0.0 : part < 2.5 ? length_ - head : length_;
  vec3 world = start.xyz + along * z + wide * start.w * around;
  gl_Position = to_clip * vec4(world, 1.0);
  normal = part < 1.5 ? around : normalize(around + 0.35 * z);
  value = vector.w;
}

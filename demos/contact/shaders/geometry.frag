/* The normal that the eye sees, and how deep. */
in vec3 normal, eye;
out vec4 seen;

void main() { seen = vec4(normalize(normal), -eye.z); }

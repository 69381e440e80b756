// x = 0 on a level, its border too.
out vec4 result;

void main() { result = vec4(0); }

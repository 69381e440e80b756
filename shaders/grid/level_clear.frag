// x = 0 on a level, including its border.
out vec4 result;

void main() { result = vec4(0); }

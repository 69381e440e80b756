#include "../nl.h" /* for programs that include it by this name */

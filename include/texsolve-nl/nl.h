/* texsolve-nl: the API of OpenNL 4, implemented by texsolve.
 *
 * A program written for OpenNL compiles and links against this library unchanged. texsolve/system.h solves its
 * system, on a GPU or the CPU:
 *
 *   nlNewContext();
 *   nlSolverParameteri(NL_NB_VARIABLES, n);
 *   nlSolverParameteri(NL_LEAST_SQUARES, NL_TRUE);
 *   nlBegin(NL_SYSTEM);                   variables: nlSetVariable, nlLockVariable
 *     nlBegin(NL_MATRIX);                 entry by entry: nlAddIJCoefficient, nlAddIRightHandSide
 *       nlBegin(NL_ROW);                  row by row: nlCoefficient, nlRightHandSide
 *       nlEnd(NL_ROW);
 *     nlEnd(NL_MATRIX);
 *   nlEnd(NL_SYSTEM);
 *   if (!nlSolve()) fprintf(stderr, "%s\n", nlGetErrorString());
 *   x = nlGetVariable(0);
 *   nlDeleteContext(nlGetCurrent());
 *
 * Numbers are double precision. The device computes in single precision. Iterative refinement with residuals b
 * - A x in double precision on the host corrects its solution until NL_THRESHOLD is met.
 *
 * Differences from OpenNL (docs/opennl.md lists all of them):
 *
 * - nlSolve returns NL_TRUE only if b - A x in double precision meets NL_THRESHOLD.
 * - The library never aborts, exits or prints. A call that is out of order or out of range changes nothing and
 *   sets an error, which nlGetError and nlGetErrorString return. nlSolve then returns NL_FALSE, because the
 *   system is not the intended one.
 * - Direct solvers, eigenvalues, and functions for a solver, a matrix or a preconditioner are not supported.
 *
 * The device is that of the environment variable TEXSOLVE_BACKEND ("cuda", "gl", "cpu", ...: names of
 * texsolve.h) if it is set, otherwise the extension that the program initialized, otherwise "auto".
 *
 * As in OpenNL the whole program has one current context; use the library from one thread at a time. */
#ifndef TEXSOLVE_NL_NL_H
#define TEXSOLVE_NL_NL_H

#include <stdint.h>
#include <stdio.h>

#if defined(_WIN32) && defined(TEXSOLVE_NL_EXPORTS)
#define NLAPI __declspec(dllexport)
#elif defined(_WIN32) && defined(TEXSOLVE_NL_SHARED)
#define NLAPI __declspec(dllimport)
#elif defined(__GNUC__)
#define NLAPI __attribute__((visibility("default")))
#else
#define NLAPI
#endif
#define NLAPIENTRY

#define NL_VERSION_4_0 1
#define TEXSOLVE_NL 1 /* distinguishes this library from OpenNL */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ----------------------------------------------------------------------------------- */

typedef unsigned int NLenum;
typedef unsigned char NLboolean;
typedef unsigned int NLbitfield;
typedef void NLvoid;
typedef signed char NLbyte;
typedef short NLshort;
typedef int32_t NLint;
typedef unsigned char NLubyte;
typedef unsigned short NLushort;
typedef uint32_t NLuint;
typedef int64_t NLlong;
typedef uint64_t NLulong;
typedef int NLsizei;
typedef float NLfloat;
typedef double NLdouble;
typedef void (*NLfunc)(void);
typedef void *NLContext;

#define NL_FALSE 0x0
#define NL_TRUE 0x1

/* ---- Contexts -------------------------------------------------------------------------------- */

/* Create a context and make it current; NULL if memory runs out. After the current context is destroyed, none
 * is current. An invalid context is an error, not a crash. */
NLAPI NLContext NLAPIENTRY nlNewContext(void);
NLAPI void NLAPIENTRY nlDeleteContext(NLContext context);
NLAPI void NLAPIENTRY nlMakeCurrent(NLContext context);
NLAPI NLContext NLAPIENTRY nlGetCurrent(void);

/* Chooses the device for all contexts that have not solved yet: "CUDA"; "OPENGL" or "GL"; "CPU"; or "CNC" (the
 * Concurrent Number Cruncher of OpenNL 3: CUDA, otherwise OpenGL). Returns NL_FALSE if the device does not
 * exist, or if TEXSOLVE_BACKEND names another one. Also returns NL_FALSE for all other names ("SUPERLU",
 * "CHOLMOD", "ARPACK", "AMGCL", "MKL"). nlGetErrorString says why. */
NLAPI NLboolean NLAPIENTRY nlInitExtension(const char *extension);
NLAPI NLboolean NLAPIENTRY nlExtensionIsInitialized(const char *extension);

/* Reads arguments of the form nl:EXTENSION=true, which initializes it, and nl:EXTENSION=false. Other arguments
 * are ignored. The call is optional. */
NLAPI void NLAPIENTRY nlInitialize(int argc, char **argv);

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Set by nlSolverParameteri:
 * - NL_SOLVER; default NL_SOLVER_DEFAULT.
 * - NL_PRECONDITIONER; default Jacobi with NL_SOLVER_DEFAULT, otherwise none.
 * - NL_NB_VARIABLES, at least 1; required.
 * - NL_NB_SYSTEMS, the number of right-hand sides for one matrix; default 1.
 * - NL_LEAST_SQUARES; default NL_FALSE.
 * - NL_SYMMETRIC: as in OpenNL, only coefficients on and below the diagonal count; those above mirror them.
 *   Default NL_FALSE.
 * - NL_MAX_ITERATIONS; default 5 times the unlocked variables, at least 100.
 * - NL_INNER_ITERATIONS, the number of vectors between restarts of GMRES, limited to 200; default 5.
 *
 * Set by nlSolverParameterd:
 * - NL_THRESHOLD bounds ||b - A x|| / ||b||, or in least squares ||A^T (b - A x)|| / ||A^T b||, for each
 *   system. b excludes the contribution of locked variables. If b is 0, NL_THRESHOLD bounds ||b - A x||.
 *   Default 1e-6.
 * - NL_OMEGA of SSOR; stored but not used.
 *
 * Results of the last nlSolve:
 * - NL_USED_ITERATIONS, the iterations of all corrections.
 * - NL_ERROR: the quantity that NL_THRESHOLD bounds, in double precision; maximum over all systems.
 * - NL_ELAPSED_TIME: duration of the call in seconds.
 * - NL_GFLOPS: additions and multiplications of the iterations / NL_ELAPSED_TIME / 1e9.
 * - NL_NNZ: entries of the solved matrix. In least squares it is A^T A, or A if A and A^T are applied in turn
 *   (nlGetReport: cgls). */
#define NL_SOLVER 0x100
#define NL_NB_VARIABLES 0x101
#define NL_LEAST_SQUARES 0x102
#define NL_MAX_ITERATIONS 0x103
#define NL_THRESHOLD 0x104
#define NL_OMEGA 0x105
#define NL_SYMMETRIC 0x106
#define NL_USED_ITERATIONS 0x107
#define NL_ERROR 0x108
#define NL_INNER_ITERATIONS 0x109
#define NL_ELAPSED_TIME 0x10a
#define NL_PRECONDITIONER 0x10b
#define NL_GFLOPS 0x10c
#define NL_NNZ 0x10d
#define NL_NB_SYSTEMS 0x10e

/* Solvers. The default is NL_CG for least squares and for matrices that turn out to be symmetric with a
 * positive diagonal, and NL_BICGSTAB otherwise. If NL_CG finds that the matrix is not symmetric or not positive
 * definite, NL_BICGSTAB continues, and nlGetReport reports it. */
#define NL_SOLVER_DEFAULT 0x000
#define NL_CG 0x200
#define NL_BICGSTAB 0x201
#define NL_GMRES 0x202
/* The Concurrent Number Cruncher of OpenNL 3: NL_CG with this format, in single precision with corrections. */
#define NL_CNC_FLOAT_CRS 0x220
#define NL_CNC_FLOAT_BCRS2 0x221
#define NL_CNC_DOUBLE_CRS 0x222
#define NL_CNC_DOUBLE_BCRS2 0x223
#define NL_CNC_FLOAT_ELL 0x224
#define NL_CNC_DOUBLE_ELL 0x225
#define NL_CNC_FLOAT_HYB 0x229
#define NL_CNC_DOUBLE_HYB 0x22a
/* Not supported: an error, and the solver is unchanged. */
#define NL_SUPERLU_EXT 0x210
#define NL_PERM_SUPERLU_EXT 0x211
#define NL_SYMMETRIC_SUPERLU_EXT 0x212
#define NL_SOLVER_USER 0x213
#define NL_CHOLMOD_EXT 0x214
#define NL_ARPACK_EXT 0x215
#define NL_AMGCL_EXT 0x216

/* Preconditioners. */
#define NL_PRECOND_NONE 0x000
#define NL_PRECOND_JACOBI 0x300
#define NL_PRECOND_SSOR 0x301         /* Jacobi is used instead, and nlGetReport reports it */
#define NL_PRECOND_USER 0x303         /* not supported: an error */
#define NL_CUDA_PRECOND_ILU_EXT 0x220 /* Jacobi is used instead, and nlGetReport reports it */
/* An extension of this library: algebraic multigrid (texsolve/amg.h), for meshes with many variables. The
 * matrix must be symmetric with a positive diagonal; otherwise nlSolve fails with NL_NOT_SUPPORTED. In least
 * squares it forms A^T A. New coefficients in the same places reuse its levels. */
#define NL_PRECOND_AMG 0x10300

/* Set a parameter, before nlBegin(NL_SYSTEM) as in OpenNL, and again before the next system of the same
 * context. */
NLAPI void NLAPIENTRY nlSolverParameterd(NLenum pname, NLdouble param);
NLAPI void NLAPIENTRY nlSolverParameteri(NLenum pname, NLint param);

/* Return a parameter as set, or its default; and results, which are 0 before the first solve. */
NLAPI void NLAPIENTRY nlGetBooleanv(NLenum pname, NLboolean *params);
NLAPI void NLAPIENTRY nlGetDoublev(NLenum pname, NLdouble *params);
NLAPI void NLAPIENTRY nlGetIntegerv(NLenum pname, NLint *params);
NLAPI void NLAPIENTRY nlGetIntegervL(NLenum pname, NLlong *params);
NLAPI void NLAPIENTRY nlGetIntergerv(NLenum pname, NLint *params); /* its name in OpenNL before 2.0 */

#define NL_NORMALIZE_ROWS 0x400 /* divide a row and its right-hand side by sqrt(sum a_j^2) */
#define NL_VERBOSE 0x401        /* after every nlSolve, print nlGetReport with the functions of nlPrintfFuncs */
#define NL_NO_VARIABLES_INDIRECTION 0x402 /* a hint without effect */
#define NL_VARIABLES_BUFFER 0x1000        /* nlBindBuffer */
#define NL_ALLOW_SINGULAR 0x10000         /* extension of this library: see nlSolve */

/* Set and return flags, all off by default. NL_NORMALIZE_ROWS may change between rows. */
NLAPI void NLAPIENTRY nlEnable(NLenum pname);
NLAPI void NLAPIENTRY nlDisable(NLenum pname);
NLAPI NLboolean NLAPIENTRY nlIsEnabled(NLenum pname);

/* Functions. The only supported one is
 *   void progress(NLuint iteration, NLuint max_iterations, double error, double max_error)
 * It is called for each iteration except the last few; calls for several iterations come together, because the
 * device is asked rarely. The errors are (||b - A x|| / ||b||)^2 and NL_THRESHOLD^2. */
#define NL_FUNC_SOLVER 0x600
#define NL_FUNC_MATRIX 0x601
#define NL_FUNC_PRECONDITIONER 0x602
#define NL_FUNC_PROGRESS 0x603

/* Set and return a function. A function that is not supported is an error, and nlGetFunction returns NULL. */
NLAPI void NLAPIENTRY nlSetFunction(NLenum pname, NLfunc param);
NLAPI void NLAPIENTRY nlGetFunction(NLenum pname, NLfunc *param);

/* ---- Variables ------------------------------------------------------------------------------- */

/* Values of variables: the solver's start, the values of locked variables and, after nlSolve, the solution. Set
 * them in NL_SYSTEM outside of NL_MATRIX, and between solves. Read them any time after the first
 * nlBegin(NL_SYSTEM). Lock variables in NL_SYSTEM before NL_MATRIX. `i` is from 0 to NL_NB_VARIABLES - 1, `k`
 * from 0 to NL_NB_SYSTEMS - 1; functions without k use system 0. Reading a value out of range is an error and
 * returns NaN. */
NLAPI void NLAPIENTRY nlSetVariable(NLuint i, NLdouble value);
NLAPI void NLAPIENTRY nlMultiSetVariable(NLuint i, NLuint k, NLdouble value);
NLAPI NLdouble NLAPIENTRY nlGetVariable(NLuint i);
NLAPI NLdouble NLAPIENTRY nlMultiGetVariable(NLuint i, NLuint k);
NLAPI void NLAPIENTRY nlLockVariable(NLuint index);
NLAPI void NLAPIENTRY nlUnlockVariable(NLuint index);
NLAPI NLboolean NLAPIENTRY nlVariableIsLocked(NLuint index);

/* Uses the doubles at `addr`, `stride` bytes apart (0: contiguous), as the variables of system k. They must
 * live as long as the context uses them. Call it after nlBegin(NL_SYSTEM), with NL_VARIABLES_BUFFER enabled
 * before it. */
NLAPI void NLAPIENTRY nlBindBuffer(NLenum buffer, NLuint k, void *addr, NLuint stride);

/* ---- Equations ------------------------------------------------------------------------------- */

#define NL_SYSTEM 0x0
#define NL_MATRIX 0x1
#define NL_ROW 0x2
#define NL_MATRIX_PATTERN 0x3 /* optional, before NL_MATRIX: the lengths of rows, which are not needed */

/* Begin and end, nested as above. Unlike in OpenNL a context may begin NL_SYSTEM again after nlEnd(NL_SYSTEM).
 * Variables and locks are kept, and equations are assembled again; coefficients in the same places only update
 * the numbers.
 *
 * A square system has one row per variable, or one per unlocked variable; row k then belongs to the k-th
 * unlocked variable. A least-squares system has any number of rows. */
NLAPI void NLAPIENTRY nlBegin(NLenum primitive);
NLAPI void NLAPIENTRY nlEnd(NLenum primitive);
NLAPI void NLAPIENTRY nlSetRowLength(NLuint i, NLuint n);

/* In NL_ROW: add to the coefficient of a variable in this row, and set the right-hand side. */
NLAPI void NLAPIENTRY nlCoefficient(NLuint i, NLdouble value);
NLAPI void NLAPIENTRY nlRightHandSide(NLdouble value);
NLAPI void NLAPIENTRY nlMultiRightHandSide(NLuint k, NLdouble value);

/* In NL_MATRIX, before NL_ROW: multiplies the next row and its right-hand side by `value`. */
NLAPI void NLAPIENTRY nlRowScaling(NLdouble value);
/* In NL_ROW: multiplies the row and its right-hand side, as added so far, by `value`. */
NLAPI void NLAPIENTRY nlScaleRow(NLdouble value);

/* The equivalents in OpenNL 3, before NL_ROW. */
#define NL_RIGHT_HAND_SIDE 0x500
#define NL_ROW_SCALING 0x501
NLAPI void NLAPIENTRY nlRowParameterd(NLenum pname, NLdouble param);
NLAPI void NLAPIENTRY nlRowParameteri(NLenum pname, NLint param);

/* In NL_MATRIX, in any order: add to the coefficient of variable j in equation i, and to the right-hand side of
 * equation i. In least squares these are the normal equations themselves, and rows must not be added too. */
NLAPI void NLAPIENTRY nlAddIJCoefficient(NLuint i, NLuint j, NLdouble value);
NLAPI void NLAPIENTRY nlAddIRightHandSide(NLuint i, NLdouble value);
NLAPI void NLAPIENTRY nlMultiAddIRightHandSide(NLuint i, NLuint k, NLdouble value);

/* ---- Solving --------------------------------------------------------------------------------- */

/* Solves from the present values of the variables. Returns NL_TRUE if NL_THRESHOLD was met, or if all variables
 * are locked. Returns NL_FALSE otherwise, with an error:
 * - NL_NOT_CONVERGED: the variables hold the last iterate;
 * - NL_SINGULAR: an unlocked variable occurs in no equation and keeps its value; the others are solved. Or a
 *   least-squares system is detected as singular, also within single precision; nothing is solved. With
 *   NL_ALLOW_SINGULAR neither is an error, and the solution close to the starting values is computed;
 * - any other error: nothing is solved.
 * It may be called again with other values or right-hand sides; the matrix stays on the device. */
NLAPI NLboolean NLAPIENTRY nlSolve(void);

/* Sets another right-hand side for the assembled equations: one number per unlocked variable, without the
 * contribution of locked variables. For one system, not in least squares (NL_NOT_SUPPORTED). */
NLAPI void NLAPIENTRY nlUpdateRightHandSide(NLdouble *values);

/* ---- Errors and messages, of this library ---------------------------------------------------- */

#define NL_NO_ERROR 0x0
#define NL_INVALID_ENUM 0x10500      /* an unknown parameter, or an invalid value of it */
#define NL_INVALID_VALUE 0x10501     /* an index or a number out of range */
#define NL_INVALID_OPERATION 0x10502 /* a call out of order, or without a current context */
#define NL_OUT_OF_MEMORY 0x10503
#define NL_NOT_SUPPORTED 0x10504
#define NL_NOT_CONVERGED 0x10505
#define NL_SINGULAR 0x10506
#define NL_DEVICE_ERROR 0x10507 /* the device does not exist, or it failed */

/* Returns and clears the first error of the current context since the last nlGetError. If no context is
 * current, it returns that of calls without a context. Beginning a system again clears the error of the
 * previous one. */
NLAPI NLenum NLAPIENTRY nlGetError(void);
/* Returns that error in one line, also after nlGetError; "" if there was none. Valid until the next call. */
NLAPI const char *NLAPIENTRY nlGetErrorString(void);
/* Describes the last nlSolve in one line: device, format, method, iterations, residual, and substitutions for
 * requested options. "" before the first solve. Valid until the next nlSolve. */
NLAPI const char *NLAPIENTRY nlGetReport(void);

/* Closes devices that no context uses. By default they stay open, because programs create a context for each
 * system. */
NLAPI void NLAPIENTRY nlReleaseDevices(void);

typedef int (*NLprintfFunc)(const char *format, ...);
typedef int (*NLfprintfFunc)(FILE *out, const char *format, ...);

/* Sets the functions that print lines with NL_VERBOSE: f1, or if it is NULL, f2 with stderr. Default NULL,
 * NULL: no output. */
NLAPI void NLAPIENTRY nlPrintfFuncs(NLprintfFunc f1, NLfprintfFunc f2);

/* ---- Eigenvalues: not supported; each call is an error --------------------------------------- */

#define NL_STIFFNESS_MATRIX 0x3001 /* the matrix; allowed */
#define NL_MASS_MATRIX 0x3002
#define NL_NB_EIGENS NL_NB_SYSTEMS
#define NL_EIGEN_MAX_ITERATIONS NL_MAX_ITERATIONS
#define NL_EIGEN_THRESHOLD NL_THRESHOLD
#define NL_EIGEN_SOLVER 0x2000
#define NL_EIGEN_SHIFT 0x2001
#define NL_EIGEN_SHIFT_INVERT 0x2002
NLAPI void NLAPIENTRY nlMatrixMode(NLenum matrix);
NLAPI void NLAPIENTRY nlEigenSolverParameterd(NLenum pname, NLdouble val);
NLAPI void NLAPIENTRY nlEigenSolverParameteri(NLenum pname, NLint val);
NLAPI void NLAPIENTRY nlEigenSolve(void);
NLAPI double NLAPIENTRY nlGetEigenValue(NLuint i); /* NaN */

#ifdef __cplusplus
}
#endif

#endif

/* texsolve-nl: the API of OpenNL 4, on texsolve.
 *
 * A program that was written for OpenNL is compiled and linked against this library unchanged. Its system is
 * solved by texsolve/system.h, on a GPU or the CPU:
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
 * Numbers are double precision. The device computes in single precision; its solution is corrected by what
 * b - A x, in double precision on the host, still leaves, until NL_THRESHOLD is met (iterative refinement).
 *
 * Where it differs from OpenNL (docs/opennl.md has all of it):
 *
 * - nlSolve returns NL_TRUE only if NL_THRESHOLD was met, judged by b - A x in double precision.
 * - Nothing aborts, exits or prints. A call that is out of order or out of range changes nothing and sets an
 *   error, which nlGetError and nlGetErrorString tell; nlSolve then returns NL_FALSE, since the system is not
 *   the one that was meant.
 * - Direct solvers, eigenvalues, and functions for a solver, a matrix or a preconditioner are not there.
 *
 * The device: the environment variable TEXSOLVE_BACKEND ("cuda", "gl", "cpu", ...: names of texsolve.h) if it
 * is set, else the extension that the program initialized, else "auto".
 *
 * As in OpenNL there is one current context for the whole program; use the library from one thread at a time.
 */
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
#define TEXSOLVE_NL 1 /* to tell this library from OpenNL */

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

/* Makes a context and makes it current; NULL where memory is out. Destroying the current one leaves none
 * current. A context that there is not is an error, not a crash. */
NLAPI NLContext NLAPIENTRY nlNewContext(void);
NLAPI void NLAPIENTRY nlDeleteContext(NLContext context);
NLAPI void NLAPIENTRY nlMakeCurrent(NLContext context);
NLAPI NLContext NLAPIENTRY nlGetCurrent(void);

/* Chooses the device, for all contexts whose first solve is yet to come: "CUDA"; "OPENGL" or "GL"; "CPU"; "CNC"
 * (the Concurrent Number Cruncher of OpenNL 3: CUDA, else OpenGL). NL_FALSE where there is no such device,
 * where TEXSOLVE_BACKEND names another one, and for all other names ("SUPERLU", "CHOLMOD", "ARPACK", "AMGCL",
 * "MKL"); nlGetErrorString says why. */
NLAPI NLboolean NLAPIENTRY nlInitExtension(const char *extension);
NLAPI NLboolean NLAPIENTRY nlExtensionIsInitialized(const char *extension);

/* Takes arguments of the form nl:EXTENSION=true, which initializes it, and nl:EXTENSION=false. Others are
 * passed over. Need not be called. */
NLAPI void NLAPIENTRY nlInitialize(int argc, char **argv);

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Set by nlSolverParameteri:
 * - NL_SOLVER; default NL_SOLVER_DEFAULT.
 * - NL_PRECONDITIONER; default Jacobi with NL_SOLVER_DEFAULT, else none.
 * - NL_NB_VARIABLES, at least 1; must be set.
 * - NL_NB_SYSTEMS, the right-hand sides for one matrix; default 1.
 * - NL_LEAST_SQUARES; default NL_FALSE.
 * - NL_SYMMETRIC: only coefficients on the diagonal and below count, and those above are their mirror image, as
 *   in OpenNL; default NL_FALSE.
 * - NL_MAX_ITERATIONS; default 5 times the unlocked variables, at least 100.
 * - NL_INNER_ITERATIONS, the vectors between restarts of GMRES, of which it keeps at most 200; default 5.
 *
 * Set by nlSolverParameterd:
 * - NL_THRESHOLD of ||b - A x|| / ||b||, in least squares of ||A^T (b - A x)|| / ||A^T b||, for each system; b
 *   without what locked variables contribute. Where it is 0, of ||b - A x||. Default 1e-6.
 * - NL_OMEGA of SSOR; kept and not used.
 *
 * Results of the last nlSolve:
 * - NL_USED_ITERATIONS, those of all corrections together.
 * - NL_ERROR: what NL_THRESHOLD bounds, the largest of all systems, in double precision.
 * - NL_ELAPSED_TIME: seconds from the call to its return.
 * - NL_GFLOPS: additions and multiplications of the iterations / NL_ELAPSED_TIME / 1e9.
 * - NL_NNZ: entries of the matrix that was solved; in least squares of A^T A, or of A where A and A^T are
 * applied one after the other (nlGetReport: cgls). */
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

/* Solvers. By default NL_CG for least squares and for matrices that turn out symmetric with a positive
 * diagonal, else NL_BICGSTAB. Where NL_CG finds the matrix not symmetric or not positive definite, NL_BICGSTAB
 * goes on, and nlGetReport says so. */
#define NL_SOLVER_DEFAULT 0x000
#define NL_CG 0x200
#define NL_BICGSTAB 0x201
#define NL_GMRES 0x202
/* The Concurrent Number Cruncher of OpenNL 3: NL_CG with the format, in single precision with corrections. */
#define NL_CNC_FLOAT_CRS 0x220
#define NL_CNC_FLOAT_BCRS2 0x221
#define NL_CNC_DOUBLE_CRS 0x222
#define NL_CNC_DOUBLE_BCRS2 0x223
#define NL_CNC_FLOAT_ELL 0x224
#define NL_CNC_DOUBLE_ELL 0x225
#define NL_CNC_FLOAT_HYB 0x229
#define NL_CNC_DOUBLE_HYB 0x22a
/* Not supported: an error, and the solver stays what it was. */
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
#define NL_PRECOND_SSOR 0x301         /* solved with Jacobi, and nlGetReport says so */
#define NL_PRECOND_USER 0x303         /* not supported: an error */
#define NL_CUDA_PRECOND_ILU_EXT 0x220 /* solved with Jacobi, and nlGetReport says so */
/* Of this library: algebraic multigrid (texsolve/amg.h), for meshes with many variables. It is for matrices
 * that are symmetric and positive on the diagonal; nlSolve refuses others, NL_NOT_SUPPORTED. In least squares
 * it forms A^T A. New numbers at the same places keep its levels. */
#define NL_PRECOND_AMG 0x10300

/* Before nlBegin(NL_SYSTEM), as in OpenNL; and once more before the next system of the same context. */
NLAPI void NLAPIENTRY nlSolverParameterd(NLenum pname, NLdouble param);
NLAPI void NLAPIENTRY nlSolverParameteri(NLenum pname, NLint param);

/* What was set, or the default; and results, 0 before the first solve. */
NLAPI void NLAPIENTRY nlGetBooleanv(NLenum pname, NLboolean *params);
NLAPI void NLAPIENTRY nlGetDoublev(NLenum pname, NLdouble *params);
NLAPI void NLAPIENTRY nlGetIntegerv(NLenum pname, NLint *params);
NLAPI void NLAPIENTRY nlGetIntegervL(NLenum pname, NLlong *params);
NLAPI void NLAPIENTRY nlGetIntergerv(NLenum pname, NLint *params); /* the name in OpenNL before 2.0 */

#define NL_NORMALIZE_ROWS 0x400 /* a row and its right-hand side are divided by sqrt(sum a_j^2) */
#define NL_VERBOSE 0x401        /* nlGetReport goes to the functions of nlPrintfFuncs after every nlSolve */
#define NL_NO_VARIABLES_INDIRECTION 0x402 /* a hint; nothing depends on it */
#define NL_VARIABLES_BUFFER 0x1000        /* nlBindBuffer */
#define NL_ALLOW_SINGULAR 0x10000         /* of this library: see nlSolve */

/* Flags, all off by default. NL_NORMALIZE_ROWS may change between rows. */
NLAPI void NLAPIENTRY nlEnable(NLenum pname);
NLAPI void NLAPIENTRY nlDisable(NLenum pname);
NLAPI NLboolean NLAPIENTRY nlIsEnabled(NLenum pname);

/* Functions. The one that is supported is
 *   void progress(NLuint iteration, NLuint max_iterations, double error, double max_error)
 * which is called for each iteration, for several at a time, since the device is asked seldom, and not for the
 * last few; the errors are (||b - A x|| / ||b||)^2 and NL_THRESHOLD^2. */
#define NL_FUNC_SOLVER 0x600
#define NL_FUNC_MATRIX 0x601
#define NL_FUNC_PRECONDITIONER 0x602
#define NL_FUNC_PROGRESS 0x603

/* A function that is not supported is an error, and nlGetFunction gives NULL. */
NLAPI void NLAPIENTRY nlSetFunction(NLenum pname, NLfunc param);
NLAPI void NLAPIENTRY nlGetFunction(NLenum pname, NLfunc *param);

/* ---- Variables ------------------------------------------------------------------------------- */

/* Values: where the solver starts, what locked variables are, and after nlSolve the solution. They may be set
 * in NL_SYSTEM outside of NL_MATRIX, and between solves; read any time after the first nlBegin(NL_SYSTEM).
 * Variables are locked in NL_SYSTEM before NL_MATRIX. `i` goes from 0 to NL_NB_VARIABLES - 1, `k` from 0 to
 * NL_NB_SYSTEMS
 * - 1; without a k system 0 is meant. Reading what there is not is an error and gives NaN. */
NLAPI void NLAPIENTRY nlSetVariable(NLuint i, NLdouble value);
NLAPI void NLAPIENTRY nlMultiSetVariable(NLuint i, NLuint k, NLdouble value);
NLAPI NLdouble NLAPIENTRY nlGetVariable(NLuint i);
NLAPI NLdouble NLAPIENTRY nlMultiGetVariable(NLuint i, NLuint k);
NLAPI void NLAPIENTRY nlLockVariable(NLuint index);
NLAPI void NLAPIENTRY nlUnlockVariable(NLuint index);
NLAPI NLboolean NLAPIENTRY nlVariableIsLocked(NLuint index);

/* The variables of system k are the doubles at `addr`, `stride` bytes apart (0: side by side), which must live
 * as long as the context uses them. After nlBegin(NL_SYSTEM), with NL_VARIABLES_BUFFER enabled before it. */
NLAPI void NLAPIENTRY nlBindBuffer(NLenum buffer, NLuint k, void *addr, NLuint stride);

/* ---- Equations ------------------------------------------------------------------------------- */

#define NL_SYSTEM 0x0
#define NL_MATRIX 0x1
#define NL_ROW 0x2
#define NL_MATRIX_PATTERN 0x3 /* optional, before NL_MATRIX: the lengths of rows, which are not needed */

/* Begin and end, nested as above. Unlike in OpenNL a context may begin NL_SYSTEM again after nlEnd(NL_SYSTEM):
 * variables and locks are kept, equations are assembled again; at the same places they cost new numbers only.
 *
 * A square system has as many rows as variables, or as many as unlocked ones; then row k belongs to the k-th
 * unlocked variable. In least squares there is any number of rows. */
NLAPI void NLAPIENTRY nlBegin(NLenum primitive);
NLAPI void NLAPIENTRY nlEnd(NLenum primitive);
NLAPI void NLAPIENTRY nlSetRowLength(NLuint i, NLuint n);

/* In NL_ROW: a coefficient, which is added to those that the variable has in this row; the right-hand side. */
NLAPI void NLAPIENTRY nlCoefficient(NLuint i, NLdouble value);
NLAPI void NLAPIENTRY nlRightHandSide(NLdouble value);
NLAPI void NLAPIENTRY nlMultiRightHandSide(NLuint k, NLdouble value);

/* In NL_MATRIX, before NL_ROW: the next row and its right-hand side are multiplied by `value`. */
NLAPI void NLAPIENTRY nlRowScaling(NLdouble value);
/* In NL_ROW: what was added of the row and its right-hand side are multiplied by it. */
NLAPI void NLAPIENTRY nlScaleRow(NLdouble value);

/* The same in OpenNL 3, before NL_ROW. */
#define NL_RIGHT_HAND_SIDE 0x500
#define NL_ROW_SCALING 0x501
NLAPI void NLAPIENTRY nlRowParameterd(NLenum pname, NLdouble param);
NLAPI void NLAPIENTRY nlRowParameteri(NLenum pname, NLint param);

/* In NL_MATRIX, in any order: adds to the coefficient of variable j in equation i, and to the right-hand side
 * of equation i. In least squares these are the normal equations themselves, and rows must not be added too.
 */
NLAPI void NLAPIENTRY nlAddIJCoefficient(NLuint i, NLuint j, NLdouble value);
NLAPI void NLAPIENTRY nlAddIRightHandSide(NLuint i, NLdouble value);
NLAPI void NLAPIENTRY nlMultiAddIRightHandSide(NLuint i, NLuint k, NLdouble value);

/* ---- Solving --------------------------------------------------------------------------------- */

/* Solves from the values that the variables have. NL_TRUE if NL_THRESHOLD was met, and where all variables are
 * locked. NL_FALSE otherwise, with an error:
 * - NL_NOT_CONVERGED: the variables hold what was reached;
 * - NL_SINGULAR: an unlocked variable is in no equation; it keeps its value, the others are solved. Or a
 *   least-squares system that is singular as far as it shows, or in single precision; nothing is solved. With
 *   NL_ALLOW_SINGULAR the solution near the starting values is taken, and it is no error;
 * - any other: nothing is solved.
 * It may be called again, after other values or right-hand sides: the matrix stays on the device. */
NLAPI NLboolean NLAPIENTRY nlSolve(void);

/* Another right-hand side for the equations as assembled, one number for each unlocked variable, from which
 * what locked variables contribute has been taken. For one system, not in least squares (NL_NOT_SUPPORTED). */
NLAPI void NLAPIENTRY nlUpdateRightHandSide(NLdouble *values);

/* ---- Errors and messages, of this library ---------------------------------------------------- */

#define NL_NO_ERROR 0x0
#define NL_INVALID_ENUM 0x10500      /* no such parameter, or no such value of it */
#define NL_INVALID_VALUE 0x10501     /* an index or a number out of range */
#define NL_INVALID_OPERATION 0x10502 /* a call out of order, or without a current context */
#define NL_OUT_OF_MEMORY 0x10503
#define NL_NOT_SUPPORTED 0x10504
#define NL_NOT_CONVERGED 0x10505
#define NL_SINGULAR 0x10506
#define NL_DEVICE_ERROR 0x10507 /* no such device, or it failed */

/* The first error of the current context since the last nlGetError, which forgets it; of calls without a
 * context where none is current. A system that is begun again forgets the error of the one before. */
NLAPI NLenum NLAPIENTRY nlGetError(void);
/* That error in one line, also after nlGetError; "" if there was none. Valid until the next call. */
NLAPI const char *NLAPIENTRY nlGetErrorString(void);
/* What the last nlSolve did, in one line: device, format, method, iterations, residual, and what it used
 * instead of what was asked for. "" before the first. Valid until the next nlSolve. */
NLAPI const char *NLAPIENTRY nlGetReport(void);

/* Closes devices that no context uses. They stay open otherwise, because programs make a context for each
 * system. */
NLAPI void NLAPIENTRY nlReleaseDevices(void);

typedef int (*NLprintfFunc)(const char *format, ...);
typedef int (*NLfprintfFunc)(FILE *out, const char *format, ...);

/* Where lines go with NL_VERBOSE: f1, or where it is NULL f2 with stderr. Default NULL, NULL: nowhere. */
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

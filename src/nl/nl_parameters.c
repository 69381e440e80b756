/* texsolve-nl: parameters, flags, functions and results. */
#include <math.h>

#include "nl_private.h"

/* Parameters may only be set between systems. */
static tsn_context *settable(const char *function) {
  tsn_context *c = tsn_current(function);
  if (!c || c->state == TSN_INITIAL || c->state == TSN_READY) return c;
  tsn_fail(c, NL_INVALID_OPERATION,
           "%s: a system is being assembled; parameters are set before nlBegin(NL_SYSTEM)", function);
  return NULL;
}

/* ---- Real numbers ---- */

void NLAPIENTRY nlSolverParameterd(NLenum pname, NLdouble param) {
  tsn_context *c = settable(__func__);
  if (!c) return;
  switch (pname) {
  case NL_THRESHOLD:
    if (!(param >= 0 && isfinite(param))) {
      tsn_fail(c, NL_INVALID_VALUE, "%s: NL_THRESHOLD is %g; it must be at least 0", __func__, param);
      return;
    }
    c->parameters.threshold = param;
    return;
  case NL_OMEGA:
    if (!(param > 0 && param < 2)) {
      tsn_fail(c, NL_INVALID_VALUE, "%s: NL_OMEGA is %g; it must be between 0 and 2", __func__, param);
      return;
    }
    c->parameters.omega = param;
    return;
  default:
    tsn_fail(c, NL_INVALID_ENUM, "%s: 0x%x is not a parameter with a real value", __func__, pname);
  }
}

/* ---- Integers ---- */

static void set_count(tsn_context *c, const char *name, NLint *to, NLint param) {
  if (param < 1)
    tsn_fail(c, NL_INVALID_VALUE, "nlSolverParameteri: %s is %d; it must be at least 1", name, param);
  else
    *to = param;
}

static void set_solver(tsn_context *c, NLenum solver) {
  switch (solver) {
  case NL_SOLVER_DEFAULT:
  case NL_CG:
  case NL_BICGSTAB:
  case NL_GMRES:
  case NL_CNC_FLOAT_CRS:
  case NL_CNC_FLOAT_BCRS2:
  case NL_CNC_DOUBLE_CRS:
  case NL_CNC_DOUBLE_BCRS2:
  case NL_CNC_FLOAT_ELL:
  case NL_CNC_DOUBLE_ELL:
  case NL_CNC_FLOAT_HYB:
  case NL_CNC_DOUBLE_HYB:
    c->parameters.solver = solver;
    return;
  case NL_SUPERLU_EXT:
  case NL_PERM_SUPERLU_EXT:
  case NL_SYMMETRIC_SUPERLU_EXT:
  case NL_SOLVER_USER:
  case NL_CHOLMOD_EXT:
  case NL_ARPACK_EXT:
  case NL_AMGCL_EXT:
    tsn_fail(c, NL_NOT_SUPPORTED,
             "nlSolverParameteri: texsolve-nl does not support solver 0x%x; it supports NL_CG, NL_BICGSTAB and "
             "NL_GMRES",
             solver);
    return;
  default:
    tsn_fail(c, NL_INVALID_ENUM, "nlSolverParameteri: NL_SOLVER is 0x%x, not a solver", solver);
  }
}

static void set_preconditioner(tsn_context *c, NLenum preconditioner) {
  switch (preconditioner) {
  case NL_PRECOND_NONE:
  case NL_PRECOND_JACOBI:
  case NL_PRECOND_SSOR:
  case NL_CUDA_PRECOND_ILU_EXT:
  case NL_PRECOND_AMG:
    c->parameters.preconditioner = preconditioner;
    c->parameters.preconditioner_set = 1;
    return;
  case NL_PRECOND_USER:
    tsn_fail(c, NL_NOT_SUPPORTED,
             "nlSolverParameteri: texsolve-nl does not support NL_PRECOND_USER; it supports NL_PRECOND_JACOBI "
             "and NL_PRECOND_AMG");
    return;
  default:
    tsn_fail(c, NL_INVALID_ENUM, "nlSolverParameteri: NL_PRECONDITIONER is 0x%x, not a preconditioner",
             preconditioner);
  }
}

void NLAPIENTRY nlSolverParameteri(NLenum pname, NLint param) {
  tsn_context *c = settable(__func__);
  if (!c) return;
  tsn_parameters *p = &c->parameters;
  switch (pname) {
  case NL_SOLVER:
    set_solver(c, (NLenum)param);
    return;
  case NL_PRECONDITIONER:
    set_preconditioner(c, (NLenum)param);
    return;
  case NL_NB_VARIABLES:
    set_count(c, "NL_NB_VARIABLES", &p->variables, param);
    return;
  case NL_NB_SYSTEMS:
    set_count(c, "NL_NB_SYSTEMS", &p->systems, param);
    return;
  case NL_MAX_ITERATIONS:
    set_count(c, "NL_MAX_ITERATIONS", &p->max_iterations, param);
    return;
  case NL_INNER_ITERATIONS:
    set_count(c, "NL_INNER_ITERATIONS", &p->inner_iterations, param);
    return;
  case NL_LEAST_SQUARES:
    p->least_squares = param != 0;
    return;
  case NL_SYMMETRIC:
    p->symmetric = param != 0;
    return;
  case NL_THRESHOLD: /* OpenNL 3 accepts both types of numbers */
  case NL_OMEGA:
    nlSolverParameterd(pname, param);
    return;
  default:
    tsn_fail(c, NL_INVALID_ENUM, "%s: 0x%x is not a parameter with an integer value", __func__, pname);
  }
}

/* ---- Questions ---- */

static int check_pointer(tsn_context *c, const void *params, const char *function) {
  if (!params) tsn_fail(c, NL_INVALID_VALUE, "%s: params is NULL", function);
  return params != NULL;
}

void NLAPIENTRY nlGetBooleanv(NLenum pname, NLboolean *params) {
  tsn_context *c = tsn_current(__func__);
  if (!c || !check_pointer(c, params, __func__)) return;
  switch (pname) {
  case NL_LEAST_SQUARES:
    *params = c->parameters.least_squares ? NL_TRUE : NL_FALSE;
    return;
  case NL_SYMMETRIC:
    *params = c->parameters.symmetric ? NL_TRUE : NL_FALSE;
    return;
  default:
    tsn_fail(c, NL_INVALID_ENUM, "%s: 0x%x is not a parameter that is true or false", __func__, pname);
  }
}

void NLAPIENTRY nlGetDoublev(NLenum pname, NLdouble *params) {
  tsn_context *c = tsn_current(__func__);
  if (!c || !check_pointer(c, params, __func__)) return;
  switch (pname) {
  case NL_THRESHOLD:
    *params = c->parameters.threshold;
    return;
  case NL_OMEGA:
    *params = c->parameters.omega;
    return;
  case NL_ERROR:
    *params = c->result.error;
    return;
  case NL_ELAPSED_TIME:
    *params = c->result.seconds;
    return;
  case NL_GFLOPS:
    *params = c->result.seconds > 0 ? 1e-9 * c->result.operations / c->result.seconds : 0;
    return;
  default:
    tsn_fail(c, NL_INVALID_ENUM, "%s: 0x%x is not a parameter with a real value", __func__, pname);
  }
}

NLint tsn_max_iterations(const tsn_context *c) {
  if (c->parameters.max_iterations) return c->parameters.max_iterations;
  const int64_t variables = c->state == TSN_READY ? (int64_t)c->free_count : c->parameters.variables;
  const int64_t iterations = 5 * variables;
  return iterations < 100 ? 100 : iterations > INT32_MAX ? INT32_MAX : (NLint)iterations;
}

/* Returns 0 for an unknown parameter. */
static int get_integer(const tsn_context *c, NLenum pname, NLlong *to) {
  const tsn_parameters *p = &c->parameters;
  switch (pname) {
  case NL_SOLVER:
    *to = p->solver;
    return 1;
  case NL_PRECONDITIONER:
    *to = p->preconditioner;
    return 1;
  case NL_NB_VARIABLES:
    *to = p->variables;
    return 1;
  case NL_NB_SYSTEMS:
    *to = p->systems;
    return 1;
  case NL_MAX_ITERATIONS:
    *to = tsn_max_iterations(c);
    return 1;
  case NL_INNER_ITERATIONS:
    *to = p->inner_iterations ? p->inner_iterations : 5;
    return 1;
  case NL_LEAST_SQUARES:
    *to = p->least_squares;
    return 1;
  case NL_SYMMETRIC:
    *to = p->symmetric;
    return 1;
  case NL_USED_ITERATIONS:
    *to = c->result.iterations;
    return 1;
  case NL_NNZ:
    *to = c->result.nonzeros;
    return 1;
  default:
    return 0;
  }
}

static void get_long(NLenum pname, NLlong *params, const char *function) {
  tsn_context *c = tsn_current(function);
  if (!c || !check_pointer(c, params, function)) return;
  if (!get_integer(c, pname, params))
    tsn_fail(c, NL_INVALID_ENUM, "%s: 0x%x is not a parameter with an integer value", function, pname);
}

void NLAPIENTRY nlGetIntegervL(NLenum pname, NLlong *params) {
  get_long(pname, params, __func__);
}

void NLAPIENTRY nlGetIntegerv(NLenum pname, NLint *params) {
  NLlong value = params ? *params : 0; /* keeps the caller's value if the parameter is unknown */
  get_long(pname, params ? &value : NULL, __func__);
  if (params) *params = value > INT32_MAX ? INT32_MAX : (NLint)value;
}

void NLAPIENTRY nlGetIntergerv(NLenum pname, NLint *params) {
  nlGetIntegerv(pname, params);
}

/* ---- Flags ---- */

static int *flag_of(tsn_context *c, NLenum pname) {
  switch (pname) {
  case NL_NORMALIZE_ROWS:
    return &c->parameters.normalize_rows;
  case NL_VERBOSE:
    return &c->parameters.verbose;
  case NL_NO_VARIABLES_INDIRECTION:
    return &c->parameters.no_indirection;
  case NL_VARIABLES_BUFFER:
    return &c->parameters.variables_buffer;
  case NL_ALLOW_SINGULAR:
    return &c->parameters.allow_singular;
  default:
    return NULL;
  }
}

static void set_flag(NLenum pname, int value, const char *function) {
  tsn_context *c = tsn_current(function);
  if (!c) return;
  int *flag = flag_of(c, pname);
  if (!flag)
    tsn_fail(c, NL_INVALID_ENUM, "%s: 0x%x is not a flag", function, pname);
  else if (pname == NL_NORMALIZE_ROWS && c->state == TSN_ROW)
    tsn_refuse(c, NL_INVALID_OPERATION, "%s: NL_NORMALIZE_ROWS does not change within a row", function);
  else
    *flag = value;
}

void NLAPIENTRY nlEnable(NLenum pname) {
  set_flag(pname, 1, __func__);
}

void NLAPIENTRY nlDisable(NLenum pname) {
  set_flag(pname, 0, __func__);
}

NLboolean NLAPIENTRY nlIsEnabled(NLenum pname) {
  tsn_context *c = tsn_current(__func__);
  if (!c) return NL_FALSE;
  const int *flag = flag_of(c, pname);
  if (!flag) tsn_fail(c, NL_INVALID_ENUM, "%s: 0x%x is not a flag", __func__, pname);
  return flag && *flag ? NL_TRUE : NL_FALSE;
}

/* ---- Functions ---- */

static int is_function(tsn_context *c, NLenum pname, const char *function) {
  if (pname >= NL_FUNC_SOLVER && pname <= NL_FUNC_PROGRESS) return 1;
  tsn_fail(c, NL_INVALID_ENUM, "%s: 0x%x is not a function", function, pname);
  return 0;
}

void NLAPIENTRY nlSetFunction(NLenum pname, NLfunc param) {
  tsn_context *c = tsn_current(__func__);
  if (!c || !is_function(c, pname, __func__)) return;
  if (pname == NL_FUNC_PROGRESS)
    c->parameters.progress = param;
  else if (param)
    tsn_refuse(c, NL_NOT_SUPPORTED,
               "%s: texsolve-nl solves on a device, which cannot call a function of the program (0x%x); only "
               "NL_FUNC_PROGRESS is supported",
               __func__, pname);
}

void NLAPIENTRY nlGetFunction(NLenum pname, NLfunc *param) {
  tsn_context *c = tsn_current(__func__);
  if (!c || !check_pointer(c, (const void *)param, __func__)) return;
  *param = NULL;
  if (is_function(c, pname, __func__) && pname == NL_FUNC_PROGRESS) *param = c->parameters.progress;
}

/* ---- Eigenvalues ---- */

static void no_eigenvalues(const char *function) {
  tsn_context *c = tsn_current(function);
  if (c) tsn_fail(c, NL_NOT_SUPPORTED, "%s: texsolve-nl does not compute eigenvalues", function);
}

void NLAPIENTRY nlMatrixMode(NLenum matrix) {
  if (matrix == NL_STIFFNESS_MATRIX)
    tsn_current(__func__);
  else
    no_eigenvalues(__func__);
}

void NLAPIENTRY nlEigenSolverParameterd(NLenum pname, NLdouble val) {
  (void)pname;
  (void)val;
  no_eigenvalues(__func__);
}

void NLAPIENTRY nlEigenSolverParameteri(NLenum pname, NLint val) {
  (void)pname;
  (void)val;
  no_eigenvalues(__func__);
}

void NLAPIENTRY nlEigenSolve(void) {
  no_eigenvalues(__func__);
}

double NLAPIENTRY nlGetEigenValue(NLuint i) {
  (void)i;
  no_eigenvalues(__func__);
  return NAN;
}

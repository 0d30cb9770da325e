/* Clp, COIN-OR's simplex solver, found at run time: it serves the start of constrained samplers
 * alone, and a machine without it needs nothing of it.  Private. */
#ifndef GBS_MODEL_CLP_H
#define GBS_MODEL_CLP_H

typedef void Clp_Simplex; /* as its header has it */

/* What is used of coin/Clp_C_Interface.h, versions 1.x: name, result, arguments.
 * tests/unit/test_constraints.c holds it against that header where there is one. */
#define GBS_CLP_FUNCTIONS(X)                                                                       \
    X(VersionMajor, int, (void))                                                                   \
    X(newModel, Clp_Simplex *, (void))                                                             \
    X(deleteModel, void, (Clp_Simplex *))                                                          \
    X(loadProblem, void,                                                                           \
      (Clp_Simplex *, const int, const int, const int *, const int *, const double *,              \
       const double *, const double *, const double *, const double *, const double *))            \
    X(setLogLevel, void, (Clp_Simplex *, int))                                                     \
    X(setPrimalTolerance, void, (Clp_Simplex *, double))                                           \
    X(chgObjCoefficients, void, (Clp_Simplex *, const double *))                                   \
    X(chgColumnLower, void, (Clp_Simplex *, const double *))                                       \
    X(dual, int, (Clp_Simplex *, int))                                                             \
    X(primal, int, (Clp_Simplex *, int))                                                           \
    X(status, int, (Clp_Simplex *))                                                                \
    X(primalColumnSolution, double *, (Clp_Simplex *))                                             \
    X(dualRowSolution, double *, (Clp_Simplex *))                                                  \
    X(infeasibilityRay, double *, (Clp_Simplex *))                                                 \
    X(freeRay, void, (Clp_Simplex *, double *))

typedef struct gbs_clp {
#define GBS_X(name, result, arguments) result(*name) arguments;
    GBS_CLP_FUNCTIONS(GBS_X)
#undef GBS_X
} gbs_clp;

/* 1, or 0 where this machine has no Clp. */
int gbs_clp_load(gbs_clp *out);

#endif

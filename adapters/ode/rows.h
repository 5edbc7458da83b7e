/*
 * Joint rows as ODE itself makes them. Its row functions are members of private classes, but exported: they are found by their mangled
 * names, which hold their signatures. A build with other signatures has other names; then nothing is found, and nothing is called.
 *
 * ODE solves (J M^-1 J' + cfm / h) lambda = (rhs - J v_free) / h for forces; over the step, c = h lambda:
 *
 *     J v + (cfm / h) c = rhs,     h lo <= c <= h hi
 */
#ifndef PC_ODE_ROWS_H
#define PC_ODE_ROWS_H

#include "pcontact/pcontact.h"

enum { PC_JOINT_ROWS = 16 }; /* more than any joint of ODE has */

/* PC_OK if every class of joints was found. */
pcStatus pcOdeRowsReady(void);

typedef struct pcRowQuery {
    double h;
    double erp, cfm; /* of the world */
    double gamma;    /* in place of every ERP that stabilizes an equality; NaN: the joints' own */
} pcRowQuery;

/* Rows of a joint with at least one body; returns how many. body1 and body2 are left to the caller: the jacobian's first half is of the
 * joint's first body unless it was attached as (0, body), see pcOdeJointTurned. May add torque to the bodies, as it does natively: so
 * once per step, before forces are read. *untranslated counts rows whose bounds depend on another row. */
int pcOdeJointRows(dJointID joint, const pcRowQuery* query, pcRow rows[PC_JOINT_ROWS], int* untranslated);

/* Attached as (0, body): then ODE's first node is that body. */
int pcOdeJointTurned(dJointID joint);

#endif

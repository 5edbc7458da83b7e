/*
 * Formulas over the numbers of a trial: abs(end.gear.yaw) < 0.1 and end.gear.y - gripper.y > 0.0145
 *
 * Numbers, names, ( ), + - * /, < <= > >= == !=, not, and, or; abs, sqrt, sin, cos, min, max, hypot, atan2. True is 1, false is 0; what is
 * compared with NaN is false.
 */
#ifndef PC_SWEEP_EXPRESSION_H
#define PC_SWEEP_EXPRESSION_H

#include "pcontact/types.h"

typedef struct pcExpression pcExpression;

/* The index of a name among the values that it will be evaluated with; negative: there is none. */
typedef int pcExpressionFind(void* context, const char* name);

/* PC_ERROR_ARGUMENT: pcLastError() says what is wrong and where. */
pcStatus pcExpressionParse(const char* text, pcExpressionFind* find, void* context, pcExpression** out);
double pcExpressionValue(const pcExpression* expression, const double* values);
void pcExpressionFree(pcExpression* expressionOrNull);

#endif

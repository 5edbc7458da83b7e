/*
 * ODE's own functions, found in the library itself: where pcontact stands between a program and ODE (preload), the plain names would come
 * back to us.
 */
#ifndef PC_ODE_NATIVE_H
#define PC_ODE_NATIVE_H

#include "pcontact/pcontact.h"

typedef struct pcNative {
    int (*worldStep)(dWorldID, dReal);
    int (*worldQuickStep)(dWorldID, dReal);
    int (*collide)(dGeomID, dGeomID, int, dContactGeom*, int);
    void (*worldDestroy)(dWorldID);
    void (*bodyDestroy)(dBodyID);
    void (*jointDestroy)(dJointID);
    void (*geomDestroy)(dGeomID);
    void (*closeOde)(void);
} pcNative;

/* NULL: ODE is not there, or not as we know it; pcLastError() says so. */
const pcNative* pcNativeOde(void);

/* Any symbol of the same library into the function pointer at `function`; 0 if it has none of that name. */
int pcNativeSymbol(const char* name, void* function);

#endif

/* A dContact, with every bit of its surface mode, as a pcContact. Fields are read only if their bit is set. */
#ifndef PC_ODE_CONTACTS_H
#define PC_ODE_CONTACTS_H

#include "pcontact/pcontact.h"

/* What the world says about all its contacts. */
typedef struct pcHostSurface {
    double h, erp;
    double gamma;          /* in place of every ERP; NaN: unset */
    double layer, fastest; /* contact surface layer, largest correcting velocity */
    pcSurface surface;     /* of the settings */
} pcHostSurface;

pcHostSurface pcHostSurfaceOf(dWorldID world, const pcSettings* settings, double h);

/* Point, normal, gap and surface. The caller has set the bodies: body2 is the contact's first body, into which ODE's normal points.
 * `turned`: the joint was attached as (0, body), which turns ODE's own idea of the friction directions round. */
void pcContactOfHost(const pcHostSurface* host, const dContact* contact, int turned, pcContact* out);

/* A surface for all contacts of a pair of geoms, without friction directions and motion along them, which only a contact has. */
void pcSurfaceOfPair(const pcHostSurface* host, const dSurfaceParameters* parameters, pcSurface* out);

/* The same in every step while the contact is: from its geoms, its features and its place on its body. Never 0. */
unsigned long long pcContactId(const dContact* contact, const pcBody* bodies, const pcContact* place);

#endif

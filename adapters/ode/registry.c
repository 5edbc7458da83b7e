#define _GNU_SOURCE /* recursive mutexes */

#include "adapters/ode/registry.h"

#include <stdint.h>
#include <stdlib.h>

#include "adapters/ode/collide.h"
#include "adapters/ode/log.h"
#include "adapters/ode/probe.h"

enum { CHAINS = 64 };
static pthread_mutex_t registryLock = PTHREAD_MUTEX_INITIALIZER;
static pcHost* chains[CHAINS];

static pcHost** chainOf(dWorldID world) { return chains + ((uintptr_t)world * 0x9e3779b97f4a7c15ull >> 58); }

static pcHost* lookUp(dWorldID world)
{
    pcHost* host = *chainOf(world);
    while (host && host->world != world) host = host->next;
    return host;
}

/* Counted before the registry is let go, so that it cannot vanish while this thread waits for its lock. */
static pcHost* take(pcHost* host)
{
    if (host) host->users++;
    pthread_mutex_unlock(&registryLock);
    if (host) pthread_mutex_lock(&host->lock);
    return host;
}

pcHost* pcHostFind(dWorldID world)
{
    pthread_mutex_lock(&registryLock);
    pcHost* host = take(lookUp(world));
    if (host && host->detached) pcHostRelease(host), host = NULL;
    return host;
}

static void freeHost(pcHost* host)
{
    pcGatheredFree(&host->gathered);
    pcGatheredFree(&host->aside);
    pcSpaceFree(&host->space);
    pcTouchesFree(&host->felt);
    pcMemoryFree(host->memory);
    pcImplicitMemoryFree(host->implicit);
    free(host->layer), free(host->layerOf);
    free(host->touch);
    pcHostLogClose(host);
    pthread_mutex_destroy(&host->lock);
    free(host);
}

void pcHostRelease(pcHost* host)
{
    pthread_mutex_unlock(&host->lock);
    pthread_mutex_lock(&registryLock);
    int last = --host->users == 0 && host->detached;
    pthread_mutex_unlock(&registryLock);
    if (last) freeHost(host);
}

static pcHost* create(dWorldID world)
{
    pthread_mutexattr_t recursive;
    pcHost* host = calloc(1, sizeof *host);
    if (!host || pcMemoryCreate(&host->memory) != PC_OK) {
        free(host);
        return NULL;
    }
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&host->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    static int made;
    host->world = world, host->number = ++made;
    host->settings = pcDefaultSettings();
    host->next = *chainOf(world);
    return *chainOf(world) = host;
}

pcHost* pcHostMake(dWorldID world)
{
    pthread_mutex_lock(&registryLock);
    pcHost* host = lookUp(world);
    return take(host ? host : create(world));
}

/* ---- which world it is ---- */

static const char markerTag = 0;

static bool isMarker(dJointID joint) { return dJointGetType(joint) == dJointTypeNull && dJointGetData(joint) == &markerTag; }

/* It stays when the world is detached: by then the world may be gone. A world that is attached again has its own already. */
bool pcHostMark(pcHost* host)
{
    dJointID joint = pcOdeFirstJoint(host->world);
    while (joint && !isMarker(joint)) joint = pcOdeNextJoint(joint);
    if (!joint) joint = dJointCreateNull(host->world, NULL);
    if (joint) dJointSetData(joint, (void*)(uintptr_t)&markerTag);
    host->marker = joint;
    return joint != NULL;
}

/* The marker is a number here until the world has listed it. */
bool pcHostIsAlive(const pcHost* host)
{
    dJointID joint = pcOdeFirstJoint(host->world);
    while (joint && joint != host->marker) joint = pcOdeNextJoint(joint);
    return joint && isMarker(joint);
}

/* ---- what concerns several worlds ---- */

typedef void Visit(pcHost* host, void* context);

static void visitAll(Visit* visit, void* context)
{
    for (int i = 0; i < CHAINS; i++)
        for (pcHost* host = chains[i]; host; host = host->next) visit(host, context);
}

static void takeFarthest(pcHost* host, void* farthest)
{
    double* ahead = farthest;
    if (host->ahead > *ahead) *ahead = host->ahead;
}

static void lookAhead(void)
{
    double farthest = 0.0;
    visitAll(takeFarthest, &farthest);
    pcOdeSetLookahead(farthest);
}

void pcHostLookAhead(pcHost* host, double ahead)
{
    pthread_mutex_lock(&registryLock);
    bool changed = host->ahead != ahead;
    host->ahead = ahead;
    if (changed) lookAhead();
    pthread_mutex_unlock(&registryLock);
}

static void loseSpace(pcHost* host, void* space)
{
    if ((void*)host->space.space == space) host->space.space = NULL;
}

void pcHostForgetSpace(dGeomID space)
{
    pthread_mutex_lock(&registryLock);
    visitAll(loseSpace, space);
    pthread_mutex_unlock(&registryLock);
}

void pcHostSetSpace(pcHost* host, dSpaceID space)
{
    pthread_mutex_lock(&registryLock);
    host->space.space = space;
    pthread_mutex_unlock(&registryLock);
}

void pcHostDrop(pcHost* host)
{
    pthread_mutex_lock(&registryLock);
    pcHost** at = chainOf(host->world);
    while (*at && *at != host) at = &(*at)->next;
    if (*at) *at = host->next;
    host->detached = 1;
    if (host->ahead > 0.0) lookAhead();
    pthread_mutex_unlock(&registryLock);
}

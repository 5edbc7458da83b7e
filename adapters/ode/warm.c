/* A table with one place for each remainder of a hash: a pair that lands on the place of another takes it. */
#include "adapters/ode/warm.h"

#include <pthread.h>
#include <stdint.h>

enum { PLACES = 1 << 14, LOCKS = 64 };

typedef struct Place {
    dGeomID geom1, geom2;
    pcPairCache cache;
} Place;

static Place places[PLACES];
static pthread_mutex_t locks[LOCKS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void initLocks(void)
{
    for (int i = 0; i < LOCKS; i++) pthread_mutex_init(locks + i, NULL);
}

static unsigned placeOf(dGeomID geom1, dGeomID geom2)
{
    uint64_t a = (uint64_t)(uintptr_t)geom1 >> 4, b = (uint64_t)(uintptr_t)geom2 >> 4;
    uint64_t hash = (a * 0x9e3779b97f4a7c15u ^ b) * 0xff51afd7ed558ccdu;
    return (unsigned)(hash >> 50);
}

static Place* lockPlace(dGeomID geom1, dGeomID geom2, pthread_mutex_t** lock)
{
    unsigned at = placeOf(geom1, geom2);
    pthread_once(&once, initLocks);
    *lock = locks + at % LOCKS;
    pthread_mutex_lock(*lock);
    return places + at;
}

pcPairCache pcOdeRecall(dGeomID geom1, dGeomID geom2)
{
    pthread_mutex_t* lock;
    const Place* place = lockPlace(geom1, geom2, &lock);
    pcPairCache cache = {0};
    if (place->geom1 == geom1 && place->geom2 == geom2) cache = place->cache;
    pthread_mutex_unlock(lock);
    return cache;
}

void pcOdeRemember(dGeomID geom1, dGeomID geom2, const pcPairCache* cache)
{
    pthread_mutex_t* lock;
    Place* place = lockPlace(geom1, geom2, &lock);
    *place = (Place){geom1, geom2, *cache};
    pthread_mutex_unlock(lock);
}

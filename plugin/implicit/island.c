/*
 * One island. First with all features where they are before the step, which is the linearised step of Stewart and Trinkle; its answer is near
 * enough to begin at the end of the step: functions are then taken where the bodies will be, and the corners of face contacts are looked for
 * there, until they are found where the answer has put them.
 */
#include <string.h>

#include "base/status.h"
#include "implicit/solve.h"

#define MOST_ROUNDS 40
#define CLOSE 0.01 /* residual of the last step's impulses with which the end of the step is begun at once */
#define GOAL 1e-4  /* part of the tolerance that Newton's method is asked for: it costs a step, and energy stays */

static double scaleOf(const pcWork* work)
{
    double scale = work->move.h * v3Norm(v3Load(work->system->gravity));
    for (int i = 0; i < work->bodies; i++) {
        const pcMotion* m = work->motion + work->body[i];
        const double* v[2] = {m->velocity, m->free};
        for (int k = 0; k < 2; k++) scale = larger(scale, larger(v3Norm(v3Load(v[k])), work->arm * v3Norm(v3Load(v[k] + 3))));
    }
    return scale > 0.0 ? scale : 1.0;
}

static void placeBefore(pcWork* work)
{
    for (int i = 0; i < work->bodies; i++) {
        int body = work->body[i];
        pcPlaceStill(&work->system->bodies[body].pose, work->motion[body].velocity, work->place + body);
    }
}

static bool makePattern(pcWork* work)
{
    int count = 0, *pairs = pcArenaRaw(work->arena, int, 2 * (size_t)(work->nears + work->givens + work->rows) + 2);
    if (!pairs) return false;
    const pcImplicitSystem* s = work->system;
    for (int i = 0; i < work->nears + work->givens + work->rows; i++) {
        int a, b;
        if (i < work->nears)
            a = work->near[work->nearOf[i]].body1, b = work->near[work->nearOf[i]].body2;
        else if (i < work->nears + work->givens)
            a = s->contacts[work->givenOf[i - work->nears]].body1, b = s->contacts[work->givenOf[i - work->nears]].body2;
        else
            a = s->rows[work->row[i - work->nears - work->givens]].body1, b = s->rows[work->row[i - work->nears - work->givens]].body2;
        if (a < 0 || b < 0 || work->local[a] < 0 || work->local[b] < 0 || a == b) continue;
        pairs[2 * count] = work->local[a], pairs[2 * count + 1] = work->local[b], count++;
    }
    return pcBlocksPattern(&work->matrix, work->bodies, pairs, count, NULL, work->arena);
}

static bool makeRoom(pcWork* work)
{
    size_t n = 6 * (size_t)work->bodies;
    double** each[] = {&work->v, &work->R, &work->Q, &work->D, &work->step, &work->trial, &work->start, &work->first};
    for (int i = 0; i < 8; i++) *each[i] = pcArenaNew(work->arena, double, n);
    work->rowC = pcArenaNew(work->arena, double, work->rows), work->rowP = pcArenaNew(work->arena, double, work->rows);
    work->rowE = pcArenaNew(work->arena, double, work->rows), work->rowOwn = pcArenaNew(work->arena, double, work->rows);
    for (int i = 0; work->rowOwn && i < work->rows; i++) work->rowE[i] = work->rowOwn[i] = 1.0;
    return pcArenaGood(work->arena) && makePattern(work);
}

/* ---- features found again ---- */

static const pcBond* sameOf(const pcBond* list, int count, unsigned long long id)
{
    for (int i = 0; i < count; i++)
        if (list[i].id == id) return list + i;
    return NULL;
}

/* How far the answer is from one for the features as they are now: what would have to move, by scale. */
static double shift(const pcWork* work, const pcBond* old, const pcBond* now)
{
    double unit = 1.0 / (work->scale * work->move.h), push = larger(0.0, old->own[0] * old->p[0]) / work->scale;
    double gap = fabs(now->s - old->s) * unit;
    if (!(old->p[0] > 0.0) && now->s >= 0.0) gap = 0.0; /* both apart */
    return larger(gap, push * (v3Norm(v3Sub(now->n, old->n)) + v3Norm(v3Sub(now->x, old->x)) / work->arm));
}

/* The list `now` was found with the bodies where the answer of `old` puts them. */
static double shiftOfPair(const pcWork* work, const pcBond* old, int oldCount, const pcNear* near)
{
    double worst = 0.0;
    for (int i = 0; i < near->bonds; i++) {
        const pcBond *b = near->bond + i, *was = sameOf(old, oldCount, b->id);
        worst = larger(worst, was && !b->cut ? shift(work, was, b) : larger(0.0, -b->s) / (work->scale * work->move.h));
    }
    for (int i = 0; i < oldCount; i++)
        if (!old[i].cut && !sameOf(near->bond, near->bonds, old[i].id)) worst = larger(worst, old[i].own[0] * old[i].p[0] / work->scale);
    return worst;
}

/* Whether features may be others with the bodies at their end: corners and edges of faces, or a pair that was left out because it was far. */
static bool mustLookAgain(const pcWork* work)
{
    for (int i = 0; i < work->nears; i++) {
        const pcNear* near = work->near + work->nearOf[i];
        if (!near->skipped && (near->events || near->bonds == 0)) return true;
    }
    return false;
}

typedef struct List {
    pcBond* bond;
    int bonds, room;
} List;

/* Looks for the features again and tells how far they are from the old ones; they become the list at hand unless that is near enough. */
static pcStatus lookAgain(pcWork* work, double enough, double* moved)
{
    List old = {work->bond, work->bonds, work->room};
    pcBond** first = pcArenaRaw(work->arena, pcBond*, work->nears);
    int* count = pcArenaRaw(work->arena, int, work->nears);
    pcLevel* level = pcArenaRaw(work->arena, pcLevel, work->nears);
    if (!first || !count || !level) return PC_OK;
    for (int i = 0; i < work->nears; i++) {
        const pcNear* near = work->near + work->nearOf[i];
        first[i] = near->bond, count[i] = near->bonds, level[i] = near->level;
    }
    pcStatus status = pcBondsFind(work, true);
    if (status != PC_OK || !pcArenaGood(work->arena)) return status;
    *moved = work->lost ? HUGE_VAL : 0.0;
    for (int i = 0; i < work->nears; i++) {
        const pcNear* near = work->near + work->nearOf[i];
        if (near->events || count[i] == 0) *moved = larger(*moved, shiftOfPair(work, first[i], count[i], near));
    }
    if (*moved > enough) return PC_OK;
    work->bond = old.bond, work->bonds = old.bonds, work->room = old.room;
    for (int i = 0; i < work->nears; i++) {
        pcNear* near = work->near + work->nearOf[i];
        near->bond = first[i], near->bonds = count[i], near->level = level[i];
    }
    return PC_OK;
}

/* ---- the island ---- */

static pcStatus roundsAtEnd(pcWork* work, double tolerance, pcIslandEnd* out)
{
    for (int round = 0; round < MOST_ROUNDS; round++) {
        out->rounds++;
        if (!pcWorkSolve(work, 0.5 * tolerance, GOAL * tolerance)) return PC_OK;
        double moved = 0.0;
        out->residual = larger(pcWorkResidual(work), pcWorkImbalance(work));
        pcStatus status = mustLookAgain(work) ? lookAgain(work, 0.5 * tolerance, &moved) : PC_OK;
        if (status != PC_OK || !pcArenaGood(work->arena)) return status;
        if (moved <= 0.5 * tolerance) {
            out->residual = larger(out->residual, moved), out->solved = true;
            return PC_OK;
        }
    }
    return PC_OK;
}

/* The features where v puts the bodies. */
static pcStatus findAtEnd(pcWork* work, bool* known)
{
    *known = pcWorkEvaluate(work, work->v, false);
    pcStatus status = *known ? pcBondsFind(work, true) : PC_OK;
    *known = *known && !work->lost;
    return status;
}

/* The linearised step, whatever it is worth. */
static pcStatus linearise(pcWork* work)
{
    placeBefore(work);
    pcStatus status = pcBondsFind(work, false);
    if (status == PC_OK && pcArenaGood(work->arena)) pcWorkSolve(work, 1e-3, 1e-3);
    return status;
}

/* From the impulses of the last step alone, if they nearly are the answer; else from the linearised step. */
static pcStatus begin(pcWork* work, bool* known)
{
    pcWorkGuess(work);
    pcStatus status = findAtEnd(work, known);
    if (status != PC_OK || !pcArenaGood(work->arena)) return status;
    if (*known && pcWorkJudge(work) <= CLOSE) return PC_OK;
    status = linearise(work);
    return status == PC_OK && pcArenaGood(work->arena) ? findAtEnd(work, known) : status;
}

/* From the linearised step to the implicit one in small parts: the geometry is taken ever later in the step. */
static pcStatus creep(pcWork* work, pcIslandEnd* out)
{
    double part = 0.25, reached = 0.0;
    double* good = pcArenaRaw(work->arena, double, 6 * (size_t)work->bodies);
    pcStatus status = good ? linearise(work) : PC_OK;
    while (status == PC_OK && pcArenaGood(work->arena)) {
        bool known;
        pcIslandEnd end = {.rounds = out->rounds};
        memcpy(good, work->v, 6 * (size_t)work->bodies * sizeof *good);
        work->ahead = smaller(1.0, reached + part);
        bool last = work->ahead == 1.0;
        status = findAtEnd(work, &known);
        if (status == PC_OK && known && pcArenaGood(work->arena)) status = roundsAtEnd(work, last ? work->settings->tolerance : 1e-4, &end);
        out->rounds = end.rounds;
        if (end.solved && last) {
            *out = end;
            break;
        }
        if (end.solved) {
            reached = work->ahead, part *= 1.5;
            continue;
        }
        part *= 0.3;
        memcpy(work->v, good, 6 * (size_t)work->bodies * sizeof *good);
        if (part < 0.01) break;
    }
    work->ahead = 1.0;
    return status;
}

/* Bonds before the step; what counts as a unit of velocity and of length. */
static pcStatus before(pcWork* work)
{
    work->bond = NULL, work->bonds = work->room = 0, work->arm = 0.0, work->ahead = 1.0;
    for (int i = 0; i < work->nears; i++) work->near[work->nearOf[i]].bonds = 0;
    placeBefore(work);
    pcStatus status = pcBondsFind(work, false);
    if (status != PC_OK || !pcArenaGood(work->arena)) return status;
    pcWorkWeigh(work);
    work->scale = scaleOf(work);
    return PC_OK;
}

pcStatus pcIslandImplicit(pcWork* work, pcStart from, pcIslandEnd* out)
{
    bool known = false;
    if (!work->v && !makeRoom(work)) return PC_OK; /* the arena remembers */
    pcStatus status = before(work);
    if (status != PC_OK || !pcArenaGood(work->arena)) return status;
    if (work->lost && !work->single)
        return pcFail(PC_ERROR_INTERNAL, "where two forms are nearest was not found: are their functions convex, and apart?");
    if (work->lost) return PC_OK;
    if (from == PC_START_CREEP) return creep(work, out);
    status = from == PC_START_LAST ? begin(work, &known) : linearise(work);
    if (status == PC_OK && pcArenaGood(work->arena) && from == PC_START_LINEAR) status = findAtEnd(work, &known);
    if (status != PC_OK || !known || !pcArenaGood(work->arena)) return status;
    return roundsAtEnd(work, work->settings->tolerance, out);
}

pcStatus pcIslandFind(pcWork* work, bool* known) { return findAtEnd(work, known); }

pcStatus pcIslandFrom(pcWork* work, pcIslandEnd* out)
{
    bool known;
    for (int i = 0; i < work->bonds; i++) {
        pcBond* b = work->bond + i;
        memcpy(b->r, b->p, sizeof b->r), b->core = b->coreP;
    }
    if (work->rows > 0) memcpy(work->rowR, work->rowP, (size_t)work->rows * sizeof(double));
    pcStatus status = findAtEnd(work, &known);
    if (status != PC_OK || !known || !pcArenaGood(work->arena)) return status;
    work->brief = true;
    status = roundsAtEnd(work, work->settings->tolerance, out);
    work->brief = false;
    return status;
}

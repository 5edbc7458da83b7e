/* Candidate pairs: forms by the broadphase, then their pieces. */
#include <string.h>

#include "base/status.h"
#include "implicit/step.h"
#include "linalg/small.h"
#include "shape/shape.h"

static const double EVERYWHERE = 1e150;

/* ---- forms ---- */

static void placeForm(const pcImplicitRun* run, int index, pcProxy* proxy)
{
    const pcPlacedForm* placed = run->system->forms + index;
    const pcForm* form = placed->form;
    int body = placed->body;
    pcPose pose = body >= 0 ? pcPoseCompose(&run->system->bodies[body].pose, &placed->pose) : placed->pose;
    pcAhead ahead = {.h = run->h, .margin = run->settings->margin};
    if (body >= 0) {
        ahead.centreOfMass = run->motion[body].position, ahead.pace = run->pace[body];
        ahead.velocity = v3Load(run->motion[body].free);
    }
    if (form->bound) {
        pose = pcPoseCompose(&pose, &form->boundPose);
        pcProxyPlace(form->bound, &pose, &ahead, proxy);
    } else { /* unbounded, and no half-space: near everything */
        *proxy = (pcProxy){.low = {-EVERYWHERE, -EVERYWHERE, -EVERYWHERE}, .high = {EVERYWHERE, EVERYWHERE, EVERYWHERE}};
        proxy->look.linear = run->h * ahead.pace.linear, proxy->at = v3Load(pose.position);
    }
    proxy->body = body, proxy->moves = body >= 0 && run->motion[body].moves;
    proxy->category = placed->category, proxy->collide = placed->collide;
}

/* ---- layers ---- */

static bool invert3(const double m[9], double out[9])
{
    double copy[9];
    memcpy(copy, m, sizeof copy);
    for (int i = 0; i < 9; i++) out[i] = i % 4 == 0;
    return pcSmallSolve(3, copy, 3, out, 3, 3);
}

/* Springs one behind the other: (K1^-1 + K2^-1)^-1. Where one of them cannot be inverted, by the normal alone. */
static void inSeries(const double a[9], const double b[9], double out[9])
{
    double A[9], B[9];
    memset(out, 0, 9 * sizeof *out);
    if (invert3(a, A) && invert3(b, B)) {
        for (int i = 0; i < 9; i++) A[i] += B[i];
        if (invert3(A, out)) return;
    }
    memset(out, 0, 9 * sizeof *out);
    out[0] = a[0] + b[0] > 0.0 ? a[0] * b[0] / (a[0] + b[0]) : 0.0;
}

bool pcLayerOfPair(const pcLayer* a, const pcLayer* b, pcLayer* out)
{
    const pcLayer* any = a ? a : b;
    if (!any) return false;
    *out = *any;
    if (!a || !b) return true;
    out->deepest = a->deepest + b->deepest;
    out->tangential = a->tangential && b->tangential;
    inSeries(a->stiffness, b->stiffness, out->stiffness);
    inSeries(a->damping, b->damping, out->damping);
    return true;
}

static void chooseLayer(const pcPlacedForm* a, const pcPlacedForm* b, pcNear* near)
{
    near->soft = pcLayerOfPair(a->layer, b->layer, &near->layer);
    near->weight[0] = near->soft && !a->layer ? 0.0 : 1.0, near->weight[1] = near->soft && !b->layer ? 0.0 : 1.0;
}

/* ---- pieces ---- */

/* Balls around the pieces are near; a half-space or another open piece is near everything. */
static bool piecesMeet(const pcImplicitRun* run, const pcPair* pair, const pcPiece* a, const pcPiece* b)
{
    const pcPlacedForm* form[2] = {run->system->forms + pair->shape1, run->system->forms + pair->shape2};
    if (form[0]->form->pieces == 1 && form[1]->form->pieces == 1) return true;
    const pcPiece* piece[2] = {a, b};
    v3 centre[2];
    for (int k = 0; k < 2; k++) {
        if (!(piece[k]->radius < HUGE_VAL)) return true;
        pcPose pose = form[k]->body >= 0 ? pcPoseCompose(&run->system->bodies[form[k]->body].pose, &form[k]->pose) : form[k]->pose;
        m3 R;
        m3FromQuaternion(v4Load(pose.quaternion), &R);
        centre[k] = v3Add(v3Load(pose.position), m3Mul(&R, piece[k]->centre));
    }
    return v3Norm(v3Sub(centre[1], centre[0])) <= a->radius + b->radius + pair->margin;
}

/* A capsule over a half-space touches it with its ends, if at all. */
static bool isCovered(const pcPiece* p, const pcPiece* q)
{
    return p->shape && p->shape->kind == PC_SHAPE_CAPSULE && q->shape && q->shape->kind == PC_SHAPE_HALFSPACE && q->count == 1;
}

/* The ends of a capsule stand for it over faces; where the other has events only, the capsule has them itself. */
static bool isSpare(const pcForm* form, int piece, const pcPiece* other)
{
    const pcShape* whole = form->piece->shape;
    return piece > 0 && form->pieces == 3 && whole && whole->kind == PC_SHAPE_CAPSULE && other->count == 0;
}

static pcStatus addNear(pcImplicitRun* run, const pcPair* pair, int piece1, int piece2, int* room)
{
    const pcPlacedForm *a = run->system->forms + pair->shape1, *b = run->system->forms + pair->shape2;
    const pcPiece *p = a->form->piece + piece1, *q = b->form->piece + piece2;
    if (!piecesMeet(run, pair, p, q) || isCovered(p, q) || isCovered(q, p)) return PC_OK;
    if (isSpare(a->form, piece1, q) || isSpare(b->form, piece2, p)) return PC_OK;
    bool functions = p->count > 0 && q->count > 0, shapes = p->shape && q->shape;
    if (!functions && !shapes)
        return pcFail(PC_ERROR_UNSUPPORTED, "forms %d and %d: one has functions only, the other none", pair->shape1, pair->shape2);
    if (run->nears == *room) {
        int wider = *room > 0 ? 2 * *room : 64;
        pcNear* moved = pcArenaRaw(run->arena, pcNear, wider);
        if (!moved) return PC_OK;
        if (run->nears > 0) memcpy(moved, run->near, (size_t)run->nears * sizeof *moved);
        run->near = moved, *room = wider;
    }
    pcNear* near = run->near + run->nears++;
    *near = (pcNear){.form1 = pair->shape1, .form2 = pair->shape2, .piece1 = piece1, .piece2 = piece2};
    near->body1 = a->body, near->body2 = b->body, near->margin = pair->margin;
    near->events = near->faces = !functions || (shapes && !p->round && !q->round);
    near->simple = p->count == 1 && q->count == 1;
    chooseLayer(a, b, near);
    return PC_OK;
}

static int compare(const pcNear* a, const pcKeptNear* b)
{
    int x[4] = {a->form1, a->form2, a->piece1, a->piece2}, y[4] = {b->form1, b->form2, b->piece1, b->piece2};
    for (int i = 0; i < 4; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Forms are known by their place in the list: another one may stand there by now, with fewer functions. */
static bool fits(const pcImplicitRun* run, const pcNear* near, const pcLevel* level)
{
    const pcPlacedForm* forms = run->system->forms;
    int functions = forms[near->form1].form->piece[near->piece1].count + forms[near->form2].form->piece[near->piece2].count;
    for (int i = 0; i < level->count; i++)
        if (level->index[i] >= functions) return false;
    return true;
}

/* Both lists ascend. */
static void remember(pcImplicitRun* run)
{
    const pcKeptStep* last = run->last;
    for (int i = 0, k = 0; i < run->nears; i++) {
        pcNear* near = run->near + i;
        while (k < last->nears && compare(near, last->near + k) > 0) k++;
        if (k == last->nears || compare(near, last->near + k) != 0) continue;
        const pcKeptNear* kept = last->near + k;
        if (fits(run, near, &kept->level)) near->level = kept->level;
        near->cache = kept->cache, near->full = kept->full;
        near->kept = last->bond + kept->first, near->keptCount = kept->count;
    }
}

pcStatus pcImplicitPairs(pcImplicitRun* run)
{
    int count = run->system->formCount, room = 0;
    pcProxy* proxies = pcArenaRaw(run->arena, pcProxy, count);
    run->order = pcArenaRaw(run->arena, int, count);
    if (!pcArenaGood(run->arena)) return PC_OK;
    for (int i = 0; i < count; i++) {
        run->order[i] = run->last->forms == count ? run->last->order[i] : i;
        placeForm(run, i, proxies + i);
    }
    pcPair* pairs;
    int found = pcPairsFind(run->arena, proxies, count, run->order, &pairs);
    run->near = NULL, run->nears = 0;
    for (int i = 0; i < found && pcArenaGood(run->arena); i++)
        for (int a = 0; a < run->system->forms[pairs[i].shape1].form->pieces; a++)
            for (int b = 0; b < run->system->forms[pairs[i].shape2].form->pieces; b++) {
                pcStatus status = addNear(run, pairs + i, a, b, &room);
                if (status != PC_OK) return status;
            }
    if (pcArenaGood(run->arena)) remember(run);
    return PC_OK;
}

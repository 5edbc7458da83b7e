#include "solver/pieces.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "linalg/mass.h"
#include "solver/rows.h"
#include "solver/stiffness.h"

#define EPS 1e-5  /* what e holds back falls by about this much per step, and rounding of u grows by its inverse */
#define RELAX 0.8 /* of a sweep's step: a cone's own rows are coupled, too */
#define TWO_PI 6.283185307179586476925286766559
#define CONE_PLACES ((PC_CONE_ROWS + 3) / 4 * 4)

static bool allocate(pcPieces* s, const pcProblem* p, pcArena* arena)
{
    *s = (pcPieces){.p = p, .size = 6 * p->blocks};
    s->offset = pcArenaRaw(arena, int, 2 * p->cones), s->start = s->offset + p->cones;
    if (!pcArenaGood(arena)) return false;
    for (int k = 0; k < p->cones; k++) {
        s->offset[k] = s->gSize, s->gSize += p->cone[k].rows * p->cone[k].rows;
        s->start[k] = s->places, s->places += (p->cone[k].rows + 3) & ~3;
    }
    double** vectors[] = {&s->own, &s->per, &s->stiff, &s->target, &s->soft, &s->c, &s->u, &s->kept, &s->a};
    size_t places = (size_t)s->places, count = sizeof vectors / sizeof *vectors, size = (size_t)s->size;
    double* vector = pcArenaNew(arena, double, count* places);
    s->J = pcArenaRaw(arena, double, 12 * places), s->Z = pcArenaRaw(arena, double, 12 * (size_t)p->rows);
    s->out = pcArenaRaw(arena, double, p->rows), s->v = pcArenaRaw(arena, double, 2 * size), s->F = s->v + size;
    s->G = pcArenaRaw(arena, double, 2 * s->gSize), s->factored = s->G + s->gSize;
    s->piece = pcArenaNew(arena, int, 2 * places), s->last = s->piece + places;
    for (size_t i = 0; pcArenaGood(arena) && i < count; i++) *vectors[i] = vector + i * places;
    return pcStiffnessPattern(p, arena, &s->H) && pcArenaGood(arena);
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------------------- */

/* Velocities of the four rows at a place that begins a quad. */
PC_INLINE v4d velocitiesAt(const pcPieces* s, int place, const int* block)
{
    const double* J = s->J + 12 * (size_t)place;
    v4d even = -v4Load(s->target + place), odd = v4Splat(0.0);
    for (int side = 0; side < 2; side++, J += 24) {
        if (block[side] < 0) continue;
        const double* v = s->v + 6 * block[side];
        for (int i = 0; i < 6; i += 2) even += v4Splat(v[i]) * v4Load(J + 4 * i), odd += v4Splat(v[i + 1]) * v4Load(J + 4 * i + 4);
    }
    return even + odd;
}

/* Six numbers of J_a'x, or Z_a'x: x has one number per row of the cone. */
PC_INLINE void addSide(int rows, const double* J, const double* x, double* out)
{
    v4d four = v4Load(out);
    double fifth = out[4], sixth = out[5];
    for (int i = 0; i < rows; i++) {
        const double* row = J + 12 * i;
        four += v4Splat(x[i]) * v4Load(row);
        fifth += x[i] * row[4], sixth += x[i] * row[5];
    }
    v4Store(out, four), out[4] = fifth, out[5] = sixth;
}

/* x += the cone's rows of `twelve` (J or Z) times y, which has its first place; x has six numbers per block. */
PC_INLINE void addCone(const pcProblem* p, const pcCone* cone, const double* twelve, const double* y, double* x)
{
    const int* block = p->block + 2 * cone->row;
    const double* rows = twelve + 12 * (size_t)cone->row;
    for (int side = 0; side < 2; side++) {
        if (block[side] < 0) continue;
        if (cone->rows == 3) /* as nearly all have: the compiler unrolls these */
            addSide(3, rows + 6 * side, y, x + 6 * block[side]);
        else
            addSide(cone->rows, rows + 6 * side, y, x + 6 * block[side]);
    }
}

/* J by columns, four rows side by side. */
PC_SIMD static void turnRows(pcPieces* s, const pcCone* cone, int start)
{
    static const double nothing[12];
    for (int i = 0; i < cone->rows; i += 4) {
        const double* row[4];
        double* J = s->J + 12 * (size_t)(start + i);
        for (int r = 0; r < 4; r++) row[r] = i + r < cone->rows ? s->p->J + 12 * (size_t)(cone->row + i + r) : nothing;
        for (int column = 0; column < 12; column += 4) {
            v4d x[4];
            for (int r = 0; r < 4; r++) x[r] = v4Load(row[r] + column);
            v4Turn(x);
            for (int r = 0; r < 4; r++) v4Store(J + 4 * (column + r), x[r]);
        }
    }
}

/* Equal within a group, so that the choice of friction directions has no effect. */
static void shareWithinGroups(const pcCone* cone, double* own)
{
    for (int g = 0, i = 1; g < (cone->kind == PC_CONE_FRICTION ? cone->groups : 0); i += cone->groupSize[g++])
        if (cone->groupSize[g] == 2) own[i] = own[i + 1] = 0.5 * (own[i] + own[i + 1]);
}

static bool takeCone(pcPieces* s, const pcMass* mass, int k)
{
    const pcProblem* p = s->p;
    const pcCone* cone = &p->cone[k];
    const int* block = p->block + 2 * cone->row;
    size_t first = 12 * (size_t)cone->row;
    int start = s->start[k];
    bool good = true;
    turnRows(s, cone, start);
    for (int side = 0; side < 2; side++)
        if (block[side] >= 0) pcMassSolveRows(mass, block[side], cone->rows, p->J + first + 6 * side, s->Z + first + 6 * side, 12);
    for (int i = 0; i < cone->rows; i++) {
        const double *J = p->J + first + 12 * i, *Z = s->Z + first + 12 * i;
        double own = 0.0;
        for (int side = 0; side < 2; side++)
            if (block[side] >= 0) own += dotSix(J + 6 * side, Z + 6 * side);
        s->own[start + i] = own, s->target[start + i] = p->target[cone->row + i], s->soft[start + i] = p->soft[cone->row + i];
        good &= own > 0.0; /* a row of zeros, as mu = 0 makes them, is for others */
    }
    shareWithinGroups(cone, s->own + start);
    for (int i = start; i < start + cone->rows; i++) s->per[i] = 1.0 / s->own[i], s->stiff[i] = 1.0 / EPS * s->per[i];
    return good;
}

bool pcPiecesNew(pcPieces* s, const pcProblem* p, pcArena* arena)
{
    pcMass mass;
    if (!allocate(s, p, arena)) return false;
    size_t mark = pcArenaMark(arena);
    bool good = pcMassFactor(&mass, p->blocks, false, p->mass, arena);
    for (int k = 0; good && k < p->cones; k++) good = takeCone(s, &mass, k);
    pcArenaRelease(arena, mark);
    return good;
}

PC_SIMD void pcPiecesFollow(pcPieces* s)
{
    memcpy(s->v, s->p->free, (size_t)s->size * sizeof *s->v);
    for (int k = 0; k < s->p->cones; k++) addCone(s->p, &s->p->cone[k], s->Z, s->c + s->start[k], s->v);
}

/* ---- Sweeps -------------------------------------------------------------------------------------------------------------------- */

/* Polygons count as discs: near enough for a guess. */
PC_INLINE void putBack(const pcCone* cone, double* c)
{
    if (cone->kind == PC_CONE_BOX) c[0] = smaller(larger(c[0], cone->lo), cone->hi);
    if (cone->kind != PC_CONE_FRICTION) return;
    c[0] = larger(c[0], 0.0);
    for (int g = 0, i = 1; g < cone->groups; i += cone->groupSize[g++]) {
        double second = cone->groupSize[g] > 1 ? c[i + 1] : 0.0, square = c[i] * c[i] + second * second;
        if (square <= c[0] * c[0]) continue;
        double shrink = c[0] / sqrt(square);
        for (int j = 0; j < cone->groupSize[g]; j++) c[i + j] *= shrink;
    }
}

/* One cone's share; returns the velocities that it has corrected. */
PC_INLINE v4d sweepCone(pcPieces* s, int k, v4d most)
{
    const pcCone* cone = &s->p->cone[k];
    int start = s->start[k], end = start + cone->rows;
    double before[CONE_PLACES], change[CONE_PLACES];
    bool any = false;
    for (int i = start; i < end; i += 4) {
        v4d c = v4Load(s->c + i), u = velocitiesAt(s, i, s->p->block + 2 * cone->row) + v4Load(s->soft + i) * c;
        v4Store(before + i - start, c), v4Store(s->c + i, c - v4Splat(RELAX) * u * v4Load(s->per + i));
    }
    putBack(cone, s->c + start);
    for (int i = start; i < end; i += 4) {
        v4d moved = v4Load(s->c + i) - v4Load(before + i - start);
        v4Store(change + i - start, moved);
        most = v4Max(v4Abs(moved) * v4Load(s->own + i), most);
        any |= moved[0] != 0.0 || moved[1] != 0.0 || moved[2] != 0.0 || moved[3] != 0.0;
    }
    if (any) addCone(s->p, cone, s->Z, change, s->v);
    return most;
}

PC_SIMD double pcPiecesSweep(pcPieces* s, bool forwards)
{
    v4d most = v4Splat(0.0);
    int cones = s->p->cones;
    for (int k = 0; k < cones; k++) most = sweepCone(s, forwards ? k : cones - 1 - k, most);
    return larger(larger(most[0], most[1]), larger(most[2], most[3]));
}

/* ---- Newton -------------------------------------------------------------------------------------------------------------------- */

PC_SIMD double pcPiecesVelocities(pcPieces* s)
{
    v4d most = v4Splat(0.0);
    for (int k = 0; k < s->p->cones; k++) {
        const int* block = s->p->block + 2 * s->p->cone[k].row;
        for (int i = s->start[k]; i < s->start[k] + s->p->cone[k].rows; i += 4) {
            v4d u = velocitiesAt(s, i, block);
            most = v4Max(v4Abs(u - v4Load(s->u + i)), most);
            v4Store(s->u + i, u);
        }
    }
    return larger(larger(most[0], most[1]), larger(most[2], most[3]));
}

/* A cone's own part of all vectors, and of G. */
typedef struct Part {
    const pcCone* cone;
    const double *per, *stiff, *soft, *c, *u;
    double *G, *a;
    int* piece;
} Part;

static Part partOf(const pcPieces* s, int k)
{
    int i = s->start[k];
    return (Part){&s->p->cone[k], s->per + i, s->stiff + i, s->soft + i, s->c + i, s->u + i, s->G + s->offset[k], s->a + i, s->piece + i};
}

/* What the piece of one group is made of: its first row in the cone, and where c - u / w would have it. */
typedef struct Wish {
    int row, size;
    double t[2], radius;
} Wish;

/* c_g' = c_n' d */
static void fixTo(const Part* part, const Wish* wish, const double* d)
{
    int rows = part->cone->rows;
    double *G = part->G + wish->row * rows, *a = part->a + wish->row, stiff = part->G[0], normal = part->a[0];
    G[0] = d[0] * stiff, a[0] = d[0] * normal;
    if (wish->size > 1) G[rows] = d[1] * stiff, a[1] = d[1] * normal;
}

static int stick(const Part* part, const Wish* wish)
{
    int next = part->cone->rows + 1, i = wish->row;
    part->G[i * next] = part->stiff[i], part->a[i] = part->c[i];
    if (wish->size > 1) part->G[(i + 1) * next] = part->stiff[i + 1], part->a[i + 1] = part->c[i + 1];
    return PC_PIECE_STICKS;
}

static int slideOnDisc(const Part* part, const Wish* wish)
{
    double length = sqrt(wish->t[0] * wish->t[0] + wish->t[1] * wish->t[1]), d[2] = {wish->t[0] / length, wish->t[1] / length};
    double turn = wish->radius / length * part->per[wish->row], across[2] = {-d[1], d[0]};
    fixTo(part, wish, d);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double g = turn * across[i] * across[j];
            part->G[(wish->row + i) * part->cone->rows + wish->row + j] = g;
            part->a[wish->row + i] += g * part->u[wish->row + j];
        }
    return PC_PIECE_SLIDES;
}

/* The side between two corners. */
static pcSide sideBetween(const double* from, const double* to, double length)
{
    return (pcSide){{0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1])},
                    {(to[0] - from[0]) / length, (to[1] - from[1]) / length},
                    {{from[0], from[1]}, {to[0], to[1]}}};
}

/* What the sides of a cone's polygon have in common, and the sides themselves if they are few. */
static void takePolygon(pcSides* polygon, const pcCone* cone)
{
    if (polygon->edges == cone->edges && polygon->angle == cone->angle) return;
    int edges = cone->edges, quarter = edges % 4 == 0 ? edges / 4 : edges;
    double step = TWO_PI / edges, corner[PC_PIECES_SIDES + 1][2] = {{0.0}};
    polygon->edges = edges, polygon->angle = cone->angle;
    polygon->middle = cos(0.5 * step), polygon->half = sin(0.5 * step);
    if (edges > PC_PIECES_SIDES) return;
    for (int i = 0; i < edges; i++) { /* a quarter of the corners by their angles, the others by quarter turns, if these lead to corners */
        const double* before = corner[i < quarter ? 0 : i - quarter];
        corner[i][0] = i < quarter ? cos(cone->angle + i * step) : -before[1];
        corner[i][1] = i < quarter ? sin(cone->angle + i * step) : before[0];
    }
    memcpy(corner[edges], corner[0], sizeof corner[0]);
    for (int i = 0; i < edges; i++) polygon->side[i] = sideBetween(corner[i], corner[i + 1], 2.0 * polygon->half);
}

/* The side that t looks at; returns its number. Of few sides, trying all takes less than an angle does. */
static int findSide(pcSides* polygon, const double* t, const pcSide** out)
{
    int best = 0, edges = polygon->edges;
    if (edges > PC_PIECES_SIDES) {
        double step = TWO_PI / edges, side = floor((atan2(t[1], t[0]) - polygon->angle) / step);
        double first = polygon->angle + side * step, corner[2][2] = {{cos(first), sin(first)}, {cos(first + step), sin(first + step)}};
        polygon->side[0] = sideBetween(corner[0], corner[1], 2.0 * polygon->half), *out = polygon->side;
        return ((int)side % edges + edges) % edges;
    }
    double most = -INFINITY;
    for (int i = 0; i < edges; i++) {
        double along = polygon->side[i].m[0] * t[0] + polygon->side[i].m[1] * t[1];
        if (along > most) most = along, best = i;
    }
    *out = &polygon->side[best];
    return best;
}

/* The nearest point of the side that faces t is one of its ends, or between them. Returns the piece. */
static int slideOnPolygon(pcSides* polygon, const Part* part, const Wish* wish)
{
    double square = wish->t[0] * wish->t[0] + wish->t[1] * wish->t[1];
    if (2.0 * square <= wish->radius * wish->radius) return stick(part, wish); /* inside every polygon: no need to look */
    const pcSide* side;
    takePolygon(polygon, part->cone);
    int number = findSide(polygon, wish->t, &side), rows = part->cone->rows, row = wish->row;
    const double *m = side->m, *t = side->t;
    double out = wish->t[0] * m[0] + wish->t[1] * m[1], at = t[0] * wish->t[0] + t[1] * wish->t[1];
    if (out <= wish->radius * polygon->middle * polygon->middle) return stick(part, wish);
    if (fabs(at) >= polygon->half * wish->radius)
        return fixTo(part, wish, side->end[at > 0.0]), PC_PIECE_CORNER + (at < 0.0 ? number : number + 1 < polygon->edges ? number + 1 : 0);
    fixTo(part, wish, m);
    for (int i = 0; i < 2; i++) {
        part->a[row + i] += t[i] * (t[0] * part->c[row] + t[1] * part->c[row + 1]);
        for (int j = 0; j < 2; j++) part->G[(row + i) * rows + row + j] = t[i] * t[j] * part->stiff[row];
    }
    return PC_PIECE_SIDE + number;
}

static int groupPiece(pcSides* polygon, const Part* part, int g, const Wish* wish)
{
    if (g == 0 && wish->size == 2 && part->cone->edges) return slideOnPolygon(polygon, part, wish);
    double square = wish->t[0] * wish->t[0] + wish->t[1] * wish->t[1];
    if (square <= wish->radius * wish->radius) return stick(part, wish);
    if (wish->size == 2) return slideOnDisc(part, wish);
    double end[2] = {wish->t[0] > 0.0 ? 1.0 : -1.0, 0.0};
    return fixTo(part, wish, end), PC_PIECE_CORNER + (end[0] > 0.0);
}

static double wishOf(const Part* part, int i) { return part->c[i] - part->u[i] * part->per[i]; }

static void contactPiece(pcSides* polygon, const Part* part)
{
    const pcCone* cone = part->cone;
    double normal = wishOf(part, 0);
    if (normal <= 0.0) return;
    part->G[0] = part->stiff[0], part->a[0] = part->c[0], part->piece[0] = PC_PIECE_STICKS;
    for (int g = 0, i = 1; g < cone->groups; i += cone->groupSize[g++]) {
        Wish wish = {i, cone->groupSize[g], {wishOf(part, i), cone->groupSize[g] > 1 ? wishOf(part, i + 1) : 0.0}, normal};
        part->piece[i] = groupPiece(polygon, part, g, &wish);
    }
}

static void boundPiece(const Part* part)
{
    const pcCone* cone = part->cone;
    double soft = part->soft[0], c = part->c[0], give = 1.0 / (1.0 + soft * part->stiff[0]),
           wish = wishOf(part, 0) - soft * c * part->per[0];
    bool bounded = cone->kind == PC_CONE_BOX, below = bounded && wish <= cone->lo, above = bounded && wish >= cone->hi;
    part->piece[0] = below ? PC_PIECE_CORNER : above ? PC_PIECE_CORNER + 1 : PC_PIECE_STICKS;
    part->a[0] = below ? cone->lo : above ? cone->hi : c * give;
    if (!below && !above) part->G[0] = part->stiff[0] * give;
}

int pcPiecesChoose(pcPieces* s)
{
    size_t places = (size_t)s->places;
    memcpy(s->last, s->piece, places * sizeof *s->last);
    memset(s->piece, 0, places * sizeof *s->piece), memset(s->a, 0, places * sizeof *s->a);
    memset(s->G, 0, (size_t)s->gSize * sizeof *s->G);
    for (int k = 0; k < s->p->cones; k++) {
        Part part = partOf(s, k);
        if (part.cone->kind == PC_CONE_FRICTION)
            contactPiece(&s->polygon, &part);
        else
            boundPiece(&part);
    }
    int changed = 0;
    for (size_t i = 0; i < places; i++) changed += s->last[i] != s->piece[i];
    return changed;
}

/* c = a - G u of one cone */
PC_INLINE void answerCone(int rows, const double* G, const double* a, const double* u, double* c)
{
    for (int i = 0; i < rows; i++) {
        double sum = a[i];
        for (int j = 0; j < rows; j++) sum -= G[i * rows + j] * u[j];
        c[i] = sum;
    }
}

static void answer(pcPieces* s)
{
    for (int k = 0; k < s->p->cones; k++) {
        int rows = s->p->cone[k].rows, i = s->start[k];
        if (rows == 3)
            answerCone(3, s->G + s->offset[k], s->a + i, s->u + i, s->c + i);
        else
            answerCone(rows, s->G + s->offset[k], s->a + i, s->u + i, s->c + i);
    }
}

/* Factors of M + J'G J, unless they are those of the last step. */
static bool factor(pcPieces* s, bool* known)
{
    if (*known && memcmp(s->G, s->factored, (size_t)s->gSize * sizeof *s->G) == 0) return true;
    memcpy(s->factored, s->G, (size_t)s->gSize * sizeof *s->G);
    return *known = pcStiffnessFactor(s->p, s->G, s->offset, &s->H);
}

/* F = J'c - M (v - f) */
PC_SIMD static void balance(pcPieces* s)
{
    for (int b = 0; b < s->p->blocks; b++) {
        double moved[6];
        for (int i = 0; i < 6; i++) moved[i] = s->p->free[6 * b + i] - s->v[6 * b + i];
        for (int i = 0; i < 6; i++) s->F[6 * b + i] = dotSix(s->p->mass + 36 * b + 6 * i, moved);
    }
    for (int k = 0; k < s->p->cones; k++) addCone(s->p, &s->p->cone[k], s->p->J, s->c + s->start[k], s->F);
}

double pcPiecesStep(pcPieces* s, bool* known)
{
    answer(s);
    balance(s);
    if (!factor(s, known)) return INFINITY;
    pcBlocksSolve(&s->H, s->F);
    for (int i = 0; i < s->size; i++) s->v[i] += s->F[i];
    double most = pcPiecesVelocities(s);
    answer(s);
    return most;
}

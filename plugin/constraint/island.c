/* Islands: bodies that rows and contacts tie together, by union-find. A body that does not move ties nothing together. */
#include "constraint/constraint.h"

typedef struct Graph {
    const pcAssembly* a;
    int* parent;
    int* number; /* of the island that a root stands for; -1 while nothing acts on it */
} Graph;

static int rootOf(int* parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* The smaller index becomes the root, so that the order of unions does not matter. */
static void join(int* parent, int i, int k)
{
    i = rootOf(parent, i), k = rootOf(parent, k);
    if (i < k)
        parent[k] = i;
    else
        parent[i] = k;
}

static bool movesAt(const pcAssembly* a, int body) { return body >= 0 && a->motion[body].moves; }

/* Any body through which the two act on an island; -1: none of them moves. */
static int handleOf(const pcAssembly* a, int body1, int body2) { return movesAt(a, body1) ? body1 : movesAt(a, body2) ? body2 : -1; }

static void tie(Graph* g, int body1, int body2)
{
    if (movesAt(g->a, body1) && movesAt(g->a, body2)) join(g->parent, body1, body2);
}

static void tieAll(Graph* g)
{
    int first = -1;
    for (int i = 0; i < g->a->system->bodyCount; i++) {
        if (!movesAt(g->a, i)) continue;
        if (first >= 0) join(g->parent, first, i);
        first = first < 0 ? i : first;
    }
}

static void makeGraph(Graph* g)
{
    const pcSystem* s = g->a->system;
    for (int i = 0; i < s->bodyCount; i++) g->parent[i] = i, g->number[i] = -1;
    for (int i = 0; i < s->rowCount; i++) tie(g, s->rows[i].body1, s->rows[i].body2);
    for (int i = 0; i < g->a->touches; i++) tie(g, g->a->touch[i].body1, g->a->touch[i].body2);
    if (s->mobility || !g->a->settings->islands) tieAll(g); /* a mobility couples every body with every other */
}

static void mark(Graph* g, int body1, int body2)
{
    int handle = handleOf(g->a, body1, body2);
    if (handle >= 0) g->number[rootOf(g->parent, handle)] = 0;
}

/* Numbers the islands on which something acts by their first bodies; returns how many there are. */
static int numberIslands(Graph* g)
{
    const pcSystem* s = g->a->system;
    int count = 0;
    for (int i = 0; i < s->rowCount; i++) mark(g, s->rows[i].body1, s->rows[i].body2);
    for (int i = 0; i < g->a->touches; i++) mark(g, g->a->touch[i].body1, g->a->touch[i].body2);
    for (int i = 0; i < s->bodyCount; i++)
        if (g->number[i] >= 0) g->number[i] = count++;
    return count;
}

static int islandOf(Graph* g, int body1, int body2)
{
    int handle = handleOf(g->a, body1, body2);
    return handle >= 0 ? g->number[rootOf(g->parent, handle)] : -1;
}

/* Goes through all bodies, rows and contacts: first to count what each island has, then, once there is room, to write it down. */
static void deal(Graph* g, pcIsland* islands, bool write)
{
    const pcSystem* s = g->a->system;
    for (int i = 0; i < s->bodyCount; i++) {
        int at = islandOf(g, i, PC_WORLD);
        if (at < 0) continue;
        if (write) islands[at].body[islands[at].bodies] = i, g->a->local[i] = islands[at].bodies;
        islands[at].bodies++;
    }
    for (int i = 0; i < s->rowCount; i++) {
        int at = islandOf(g, s->rows[i].body1, s->rows[i].body2);
        if (at < 0) continue;
        if (write) islands[at].row[islands[at].rows] = i;
        islands[at].rows++;
    }
    for (int i = 0; i < g->a->touches; i++) {
        int at = islandOf(g, g->a->touch[i].body1, g->a->touch[i].body2);
        if (at < 0) continue;
        if (write) islands[at].touch[islands[at].touches] = i;
        islands[at].touches++;
    }
}

static void makeRoom(pcArena* arena, pcIsland* island)
{
    island->body = pcArenaNew(arena, int, island->bodies);
    island->row = pcArenaNew(arena, int, island->rows);
    island->touch = pcArenaNew(arena, int, island->touches);
    island->bodies = island->rows = island->touches = 0;
}

int pcIslandsFind(pcAssembly* a, pcIsland** out)
{
    int bodies = a->system->bodyCount;
    Graph g = {.a = a, .parent = pcArenaNew(a->arena, int, bodies), .number = pcArenaNew(a->arena, int, bodies)};
    a->local = pcArenaNew(a->arena, int, bodies);
    if (!pcArenaGood(a->arena)) return 0;
    for (int i = 0; i < bodies; i++) a->local[i] = -1;
    makeGraph(&g);
    int count = numberIslands(&g);
    pcIsland* islands = *out = pcArenaNew(a->arena, pcIsland, count);
    if (!islands) return 0;
    deal(&g, islands, false);
    for (int i = 0; i < count; i++) makeRoom(a->arena, islands + i);
    if (!pcArenaGood(a->arena)) return 0;
    deal(&g, islands, true);
    return count;
}

/* The variable PCONTACT: whatever it says, the program goes on; natively with one line that says why, or under settings that a world accepts. */
#include "adapters/preload/variable.h"

#include "pcontact/pcontact.h"
#include "test_worlds/fuzz/targets/target.h"

enum { ROOM = 2048 };

typedef struct Host {
    dWorldID world;
    dBodyID body;
} Host;

static Host makeHost(void)
{
    Host host;
    dMass mass;
    dInitODE2(0);
    host.world = dWorldCreate(), host.body = dBodyCreate(host.world);
    dMassSetBoxTotal(&mass, 1, 1, 1, 1);
    dBodySetMass(host.body, &mass);
    dWorldSetGravity(host.world, 0, 0, -10);
    return host;
}

/* A free body falls as it should under all of them: also where no world accepts them (a shadow of native, a solver for the other model), which
 * has its sentence and leaves the world native. */
static void requireFall(const pcSettings* settings)
{
    static Host host;
    if (!host.world) host = makeHost();
    dBodySetPosition(host.body, 0, 0, 10), dBodySetLinearVel(host.body, 0, 0, 0), dBodySetAngularVel(host.body, 0, 0, 0);
    pcStatus status = pcWorldAttach(host.world, NULL, settings);
    if (status == PC_OK)
        REQUIRE(pcWorldStep(host.world, 0.01) == PC_OK, "%s", pcLastError());
    else
        requireRefusal(status), dWorldStep(host.world, 0.01);
    double v = dBodyGetLinearVel(host.body)[2];
    REQUIRE(fabs(v + 0.1) <= 1e-12, "%.17g", v);
    REQUIRE((pcWorldDetach(host.world) == PC_OK) == (status == PC_OK), "attached: %d", status == PC_OK);
}

static void requireLine(const char* line)
{
    static const char end[] = "; the program runs natively.\n";
    size_t length = strlen(line);
    REQUIRE(strncmp(line, "pcontact: ", 10) == 0 && length > sizeof end, "'%s'", line);
    REQUIRE(strcmp(line + length - strlen(end), end) == 0, "'%s'", line);
    REQUIRE(strchr(line, '\n') == line + length - 1, "'%s'", line);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char text[ROOM];
    if (size >= ROOM) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    pcPreloadVariable variable = pcPreloadRead(text);
    const pcSettings* s = &variable.settings;
    pcSettings parsed = pcDefaultSettings();
    bool good = pcSettingsParse(&parsed, text) == PC_OK, blank = strspn(text, " \t\r\n,") == strlen(text);
    REQUIRE((variable.mode == PC_PRELOAD_REFUSED) == !good, "mode %d of '%s'", (int)variable.mode, text);
    REQUIRE(!blank || variable.mode == PC_PRELOAD_NATIVE, "mode %d of '%s'", (int)variable.mode, text);
    if (variable.mode == PC_PRELOAD_REFUSED) requireLine(variable.refusal);
    if (variable.mode != PC_PRELOAD_OURS) return 0;
    REQUIRE(memcmp(s, &parsed, sizeof parsed) == 0, "other settings than those of '%s'", text);
    REQUIRE(!(s->shadow && variable.ownCollide), "a shadow that collides: '%s'", text);
    if (!s->report[0] && !s->dump[0] && s->threads <= 2 && s->threads > 0) requireFall(s); /* no files that the text names, no threads */
    return 0;
}

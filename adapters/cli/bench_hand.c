/* pcontact bench hand: the robot hand of S section 4; joint and contact infeasibility against gamma. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/play.h"
#include "adapters/cli/worlds.h"

static const char help[] = "Usage: pcontact bench hand\n\n"
                           "Plays the world 'hand' at gamma 0, 0.2 and 1 and prints how far contacts and joints are violated: without "
                           "stabilization (gamma 0) past\n"
                           "5 mm, where the paper's simulation ends, with it not.\n";

static const double LIMIT = 5e-3;

typedef struct Glass {
    double start, moved;
} Glass;

static void watchGlass(void* context, const pcStage* stage, double time)
{
    Glass* glass = context;
    for (int i = 0; i < stage->bodies; i++) {
        if (strcmp(stage->body[i].name, "glass::body") != 0) continue;
        double x = dBodyGetPosition(stage->body[i].body)[0];
        if (time == 0.0) glass->start = x;
        glass->moved = x - glass->start;
    }
}

int pcCliBenchHand(int argc, char** argv)
{
    static const double gamma[] = {0.0, 0.2, 1.0};
    char path[PC_CLI_PATH], settings[64];
    int code = pcCliOnlyHelp(argc, argv, "bench hand", help);
    if (code >= 0) return code;
    if (pcCliFindWorld("hand", path) != 0) return PC_CLI_BAD_INPUT;
    bool holds = true;
    puts("          contact, mm         joint, mm           glass");
    puts("  gamma   mean      most      mean      most      moved, mm  residual");
    for (int i = 0; i < 3; i++) {
        Glass glass = {0};
        pcPlayed p;
        snprintf(settings, sizeof settings, "gamma=%g", gamma[i]);
        pcPlayPlan plan = {.file = path, .settings = settings, .name = "hand", .frame = watchGlass, .context = &glass};
        if (pcPlay(&plan, &p) != PC_OK) return pcCliBadInput("%s", pcLastError());
        printf("%7g   %-8.2g  %-8.2g  %-8.2g  %-8.2g  %-9.3g  %.2g\n", gamma[i], 1e3 * p.length.mean, 1e3 * p.length.most,
               1e3 * p.joint.mean, 1e3 * p.joint.most, 1e3 * glass.moved, p.residual);
        holds &= (fmax(p.length.most, p.joint.most) > LIMIT) == (gamma[i] == 0.0);
    }
    if (!holds) puts("the 5 mm limit is not passed at gamma 0 alone");
    return holds ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}

/* pcontact run: plays a world file under one model and tells what happened. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/options.h"
#include "adapters/cli/pages.h"
#include "adapters/cli/play_options.h"
#include "stepper/settings.h"

static const char help[] =
    "Usage: pcontact run WORLD [--SETTING VALUE]... [--step H] [--time T] [--csv BASE] [--from STATES] [--report FILE.html] [--quiet]\n\n"
    "Plays WORLD, an SDF file or the name of a world that comes with pcontact, and tells where its bodies are on the way.\n"
    "Every setting is an option, on top of what the file says ('pcontact info --settings' explains them):\n\n"
    "  pcontact run balance2\n"
    "  pcontact run balance2 --gamma 0 --step 0.02 --csv drift     writes drift.states.csv and drift.steps.csv\n"
    "  pcontact run my.world --model native --time 5               ODE's own solver\n\n"
    "  --step H     seconds per step; default: max_step_size of the file\n"
    "  --time T     seconds to play; default: <time> in the file, else 10\n"
    "  --csv BASE   write the state of every body after every step, and a line about every step\n"
    "  --from STATES   go on where such states (BASE.states.csv) end, also those of a run that was stopped; T counts from its start\n"
    "  --report FILE.html   write a page for the browser: replay in 3D, contacts, plots\n"
    "  --quiet      only the last lines\n\n"
    "Exit code: 0; 1 if a step had to be ODE's own though the model is another, or a body was lost; 2 for bad input.\n";

static double speedOf(dBodyID body)
{
    const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

/* How far a body's axes are from upright, and whether it is at rest. */
static void tellFrame(void* context, const pcStage* stage, double time)
{
    const int* most = context;
    int moving = 0;
    for (int i = 0; i < stage->bodies; i++) moving += speedOf(stage->body[i].body) > 0.01;
    printf("\nat %g s: %s\n", time, moving ? "" : "all at rest");
    for (int i = 0; i < stage->bodies && i < *most; i++) {
        dBodyID body = stage->body[i].body;
        const dReal *x = dBodyGetPosition(body), *q = dBodyGetQuaternion(body);
        double turned = 2.0 * atan2(sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), fabs(q[0])) * 180.0 / 3.14159265358979323846;
        double speed = speedOf(body);
        printf("  %-28s at %8.3f %8.3f %8.3f  turned %5.1f deg  ", stage->body[i].name, x[0], x[1], x[2], turned);
        if (speed > 0.01)
            printf("moving at %.3g\n", speed);
        else
            puts("at rest");
    }
    if (stage->bodies > *most) printf("  … and %d more\n", stage->bodies - *most);
}

static void tellEnd(const pcPlayed* p, const pcPlayOptions* options)
{
    char settings[1024], size[PC_PLAYED_SIZE];
    pcSettingsPrint(&p->settings, settings, sizeof settings);
    pcPlayedSize(p, size);
    printf("\n%s; settings: %s\n", size, settings[0] ? settings : "defaults");
    printf("penetration mean %.2g, most %.2g of the bodies' size (%.2g of length); joint error mean %.2g, most %.2g\n", p->ratio.mean,
           p->ratio.most, p->length.most, p->joint.mean, p->joint.most);
    if (!isnan(p->residual)) printf("residual at most %.2g, %d steps missed the tolerance; ", p->residual, p->inaccurate);
    printf("%.3g ms per step (median), %.3g (p99)\n", p->median, p->p99);
    if (!isnan(p->coreMet)) printf("the core of a layer was met at %.4f s\n", p->coreMet);
    if (p->skipped[0]) printf("not read: %s\n", p->skipped);
    if (p->messages > 0) printf("ODE complained %d times\n", p->messages);
    if (p->nativeSteps > 0) printf("%d steps had to be ODE's own: %s\n", p->nativeSteps, p->reason);
    if (!p->finite) puts("a body was lost: its position is not finite");
    if (options->csv) printf("written: %s.states.csv and %s.steps.csv\n", options->csv, options->csv);
}

static int writePage(pcCliPage* page, const pcPlayOptions* options, const pcPlayed* played)
{
    char subtitle[PC_PLAYED_SIZE];
    pcPlayedSize(played, subtitle);
    pcCliPagePlayed(page, pcModelName(played->settings.model), played);
    if (played->skipped[0]) pcCliPageFact(page, "not read", played->skipped);
    pcPage content = {.title = options->world, .subtitle = subtitle};
    int code = pcCliPageEnd(page, &content);
    if (code == 0) printf("written: %s\n", options->page);
    return code;
}

int pcCliRun(int argc, char** argv)
{
    pcPlayOptions options;
    pcPlayed played;
    static pcCliPage page;
    int code = pcPlayOptionsRead(&options, "run", help, argc, argv), most = 30;
    if (!options.world) return code;
    if (options.format) return pcCliBadInput("'run' has no option '--format'; 'pcontact run --help' explains it");
    code = pcCliPageBegin(&page, options.page, "run", argc, argv);
    if (code != 0) return code;
    pcPlayPlan plan = {.file = options.path,
                       .settings = options.settings.text,
                       .step = options.step,
                       .time = options.time,
                       .csv = options.csv,
                       .from = options.from,
                       .name = options.world,
                       .context = &most};
    if (!options.quiet) plan.frame = tellFrame;
    pcCliPageRecord(&page, &plan, "");
    if (pcPlay(&plan, &played) != PC_OK) {
        pcCliPageDrop(&page);
        return pcCliBadInput("%s", pcLastError());
    }
    tellEnd(&played, &options);
    if (options.page) code = writePage(&page, &options, &played);
    return code != 0 ? code : played.nativeSteps == 0 && played.finite ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}

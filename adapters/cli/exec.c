/*
 * pcontact exec: runs an unmodified ODE program with the preload library in front of ODE, waits for it, and ends as it ended. A page of
 * memory that all its processes share tells afterwards whether a step ever came by.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/inspect.h"
#include "adapters/cli/options.h"
#include "adapters/preload/note.h"
#include "pcontact/settings.h"

static const char help[] =
    "Usage: pcontact exec [--SETTING VALUE]... [--verbose] [--] PROGRAM [ARGUMENT]...\n\n"
    "Runs PROGRAM, which uses ODE and need not know of pcontact, with our solver in place of dWorldStep and dWorldQuickStep.\n"
    "Every setting is an option ('pcontact info --settings' explains them); without --model it is lcp:\n\n"
    "  pcontact exec --model lcp --gamma 0.3 --report steps.csv -- ./program arguments\n"
    "  pcontact exec --model shadow:lcp --report difference.csv -- ./program    steps natively, solves beside it\n\n"
    "  --verbose   print afterwards how many steps there were, how many of them native, and the worst residual\n\n"
    "The same by hand: PCONTACT=\"model=lcp gamma=0.3\" LD_PRELOAD=libpcontact-preload.so ./program\n"
    "Exit code: that of PROGRAM, or its signal; 2 with one sentence if it could not be started.\n";

typedef struct Options {
    pcSettingsText settings; /* for PCONTACT */
    bool verbose;
    char** program; /* NULL: only help was wanted */
} Options;

/* ---- Options ---------------------------------------------------------------------------------------------------------------------------- */

static int readOptions(Options* options, int argc, char** argv)
{
    strcpy(options->settings.text, "model=lcp");
    int i = 0;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (pcCliIsHelp(argv[i])) {
            fputs(help, stdout);
            return PC_CLI_OK;
        }
        if (strcmp(argv[i], "--verbose") == 0) {
            options->verbose = true;
            continue;
        }
        int code = pcCliSetting(&options->settings, "exec", argc, argv, &i);
        if (code != 0) return code;
    }
    if (i >= argc) return pcCliBadInput("a program is missing; 'pcontact exec --help' explains it");
    options->program = argv + i;
    return PC_CLI_OK;
}

/* ---- Environment ----------------------------------------------------------------------------------------------------------------------- */

/* Beside the tool as it was built, or where both are installed. */
int pcCliFindPreload(char* path)
{
    static const char* const places[] = {"", PCONTACT_LIB_FROM_BIN "/"};
    char folder[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length < 0) return pcCliBadInput("the place of the tool itself is unknown: /proc is not mounted");
    folder[length] = 0;
    *(strrchr(folder, '/') + 1) = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int needed = snprintf(path, PATH_MAX, "%s%slibpcontact-preload.so", folder, places[i]);
        if (needed >= PATH_MAX || access(path, R_OK) != 0) continue;
        if (strpbrk(path, " :")) return pcCliBadInput("the loader cannot load '%s': there must be no blank and no colon in its path", path);
        return 0;
    }
    return pcCliBadInput("libpcontact-preload.so is neither in %s nor in %s" PCONTACT_LIB_FROM_BIN, folder, folder);
}

/* Memory that a process finds by a name in /proc for as long as the tool waits: there is no file to remove. NULL: without it. */
static pcNote* shareNote(void)
{
    int descriptor = memfd_create("pcontact-note", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, sizeof(pcNote)) != 0) return NULL;
    void* page = mmap(NULL, sizeof(pcNote), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (page == MAP_FAILED) return NULL;
    char name[64];
    snprintf(name, sizeof name, "/proc/%ld/fd/%d", (long)getpid(), descriptor);
    return setenv(PC_NOTE_VARIABLE, name, 1) == 0 ? page : NULL;
}

static int setEnvironment(const Options* options, const char* preload)
{
    const char* others = getenv("LD_PRELOAD");
    size_t room = strlen(preload) + (others ? strlen(others) : 0) + 2;
    char* list = malloc(room);
    if (!list) return pcCliBadInput("out of memory");
    snprintf(list, room, "%s%s%s", preload, others && others[0] ? ":" : "", others ? others : "");
    bool set = setenv("LD_PRELOAD", list, 1) == 0 && setenv("PCONTACT", options->settings.text, 1) == 0;
    free(list);
    return set ? 0 : pcCliBadInput("out of memory");
}

/* ---- The child ------------------------------------------------------------------------------------------------------------------------ */

/* What a person or another program sends to the tool is meant for the program. A terminal sends these two to both of them itself. */
static const int forwarded[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};
static const int fromTerminal[] = {SIGINT, SIGQUIT};
enum { FORWARDED = sizeof forwarded / sizeof forwarded[0], FROM_TERMINAL = sizeof fromTerminal / sizeof fromTerminal[0] };

static volatile pid_t child;

static void forward(int signal)
{
    int kept = errno;
    if (child > 0) kill(child, signal);
    errno = kept;
}

/* A signal that the tool was told to ignore (nohup) stays ignored, here and in the child. */
static void handle(int signal, void (*handler)(int))
{
    struct sigaction now, then = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&then.sa_mask);
    if (sigaction(signal, NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaction(signal, &then, NULL);
}

static void blockAll(sigset_t* before)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, before);
}

/* Signals wait until the child is there to receive them. Handlers do not survive an exec, so it starts with what the tool was given. */
static int startChild(char** program)
{
    sigset_t before;
    blockAll(&before);
    for (int i = 0; i < FORWARDED; i++) handle(forwarded[i], forward);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &before);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t started;
    int error = posix_spawnp(&started, program[0], NULL, &attributes, program, environ);
    posix_spawnattr_destroy(&attributes);
    if (error == 0) child = started;
    for (int i = 0; i < FROM_TERMINAL; i++) handle(fromTerminal[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? 0 : pcCliBadInput("'%s' cannot be started: %s", program[0], strerror(error));
}

static int waitForChild(void)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    child = 0;
    return status;
}

/* Ends as the child ended: whoever waits for the tool sees the same. */
static int endLike(int status)
{
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    int signal = WTERMSIG(status);
    const struct rlimit noCore = {0, 0};
    sigset_t only;
    fflush(NULL);
    setrlimit(RLIMIT_CORE, &noCore);
    sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    sigemptyset(&only), sigaddset(&only, signal);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    raise(signal);
    return 128 + signal;
}

/* ---- Afterwards ------------------------------------------------------------------------------------------------------------------------ */

static void explainSilence(const char* program, const pcNote* note)
{
    pcInspection why;
    pcInspect(program, &why);
    bool guess = why.reach == PC_REACH_YES || why.reach == PC_REACH_BAD_INPUT;
    const char* reason = guess ? "it ended before its first step" : why.sentence;
    const char* what = atomic_load(&note->loaded) ? "never called dWorldStep or dWorldQuickStep of libode.so" : "was never reached";
    fprintf(stderr, "pcontact: '%s' %s: %s.\n", program, what, reason);
}

/* An ODE other than ours in the same process: its worlds would be handed to functions that do not know them. */
static int refuseOtherOde(const char* program)
{
    pcInspection answer;
    pcInspect(program, &answer);
    return answer.reach == PC_REACH_OTHER_ODE ? pcCliBadInput("'%s' cannot be run: %s", program, answer.sentence) : 0;
}

int pcCliExec(int argc, char** argv)
{
    Options options = {.program = NULL};
    char preload[PATH_MAX];
    int code = readOptions(&options, argc, argv);
    if (!options.program) return code;
    if ((code = pcCliFindPreload(preload)) != 0) return code;
    if ((code = refuseOtherOde(options.program[0])) != 0) return code;
    pcNote* note = shareNote();
    if ((code = setEnvironment(&options, preload)) != 0) return code;
    if ((code = startChild(options.program)) != 0) return code;
    int status = waitForChild();
    if (note && atomic_load(&note->solved) + atomic_load(&note->native) == 0) {
        explainSilence(options.program[0], note);
    } else if (note && options.verbose) {
        pcNotePrint(note);
    }
    return endLike(status);
}

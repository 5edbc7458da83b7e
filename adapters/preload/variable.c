#include "adapters/preload/variable.h"

#include <stdio.h>
#include <string.h>

pcPreloadVariable pcPreloadRefuse(const char* what)
{
    pcPreloadVariable variable = {.mode = PC_PRELOAD_REFUSED};
    snprintf(variable.refusal, sizeof variable.refusal, "pcontact: %s; the program runs natively.\n", what);
    return variable;
}

/* The narrowphase belongs to our models by default, to ODE's own only where the text names it: then PCONTACT=model=native changes nothing. */
static int wantsOwnCollide(const pcSettings* settings, const char* text)
{
    if (settings->shadow) return 0;
    if (settings->model != PC_MODEL_NATIVE && settings->model != PC_MODEL_QUICK) return settings->narrowphase != PC_NARROW_NATIVE;
    pcSettings named = pcDefaultSettings();
    named.narrowphase = PC_NARROW_NATIVE;
    return pcSettingsParse(&named, text) == PC_OK && named.narrowphase != PC_NARROW_NATIVE;
}

pcPreloadVariable pcPreloadRead(const char* text)
{
    pcPreloadVariable variable = {.mode = PC_PRELOAD_NATIVE, .settings = pcDefaultSettings()};
    pcSettings* settings = &variable.settings;
    if (!text || !text[strspn(text, " \t\r\n,")]) return variable;
    if (pcSettingsParse(settings, text) != PC_OK) return pcPreloadRefuse(pcLastError());
    variable.ownCollide = wantsOwnCollide(settings, text);
    int plain = settings->model == PC_MODEL_NATIVE && !settings->shadow && !settings->report[0] && !variable.ownCollide;
    if (!plain) variable.mode = PC_PRELOAD_OURS;
    return variable;
}

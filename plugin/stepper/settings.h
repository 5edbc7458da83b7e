/* Settings from the inside: every step checks the ones it is given. */
#ifndef PC_STEPPER_SETTINGS_H
#define PC_STEPPER_SETTINGS_H

#include <stdbool.h>

#include "pcontact/settings.h"

/* Made by pcDefaultSettings(), and every value in its range. */
pcStatus pcSettingsCheck(const pcSettings* settings);

/* The names of a model and of a solver in a settings text. */
const char* pcModelName(pcModel model);
const char* pcSolverName(pcSolver solver);

/* The name of setting i, in the order of the header; NULL beyond the last. */
const char* pcSettingName(int i);

/* Setting i for people, from the table that reads and checks it; false beyond the last. */
typedef struct pcSettingDescription {
    const char *name, *meaning;
    char values[64]; /* words that can stand there, or the range in words */
    char standard[32];
} pcSettingDescription;
bool pcSettingDescribe(int i, pcSettingDescription* out);

#endif

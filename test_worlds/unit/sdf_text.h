/* World files written by tests. */
#ifndef PC_UNIT_SDF_TEXT_H
#define PC_UNIT_SDF_TEXT_H

#include "adapters/sdf/stage.h"

/* A scene of an SDF text; the file is gone when it returns. *scene is NULL if it failed. */
pcStatus sdfRead(const char* text, pcScene** scene);

/* The text of a world of this version around what printf makes of the rest. Valid until the next call. */
const char* sdfWorld(const char* version, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* A stage, attached with `settings` on top of the file's; NULL, and the test has failed, if anything is wrong. */
pcStage* sdfStage(const char* text, const char* settings);

void sdfRun(pcStage* stage, double seconds); /* by its own step */
dBodyID sdfBody(const pcStage* stage, const char* name);
dJointID sdfJoint(const pcStage* stage, const char* name);

#endif

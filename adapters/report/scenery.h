/* The scene and the runs of a page as its data: shapes on bodies, frames, contacts, series. */
#ifndef PC_REPORT_SCENERY_H
#define PC_REPORT_SCENERY_H

#include "adapters/report/numbers.h"
#include "adapters/report/recording.h"

/* Keys of an open JSON object: planar, bodies, shapes (of the first recording's scene), runs. */
void pcSceneryWrite(pcJson* json, pcNumbers* numbers, const pcRecording* recording, int recordings);

#endif

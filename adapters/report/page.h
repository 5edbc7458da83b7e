/*
 * A page for the browser: what ran, a replay of it, plots, maps. One file that needs no network: the script (web/, bundled when the tool is
 * built) and all numbers are inside. Below PC_PAGE_MOST bytes: of runs that would be longer, fewer frames are shown, and the page says so.
 */
#ifndef PC_REPORT_PAGE_H
#define PC_REPORT_PAGE_H

#include "adapters/report/recording.h"

enum { PC_PAGE_MOST = 5000000 };

typedef struct pcPageFact {
    const char *name, *value;
} pcPageFact;

/* A table of quantities by columns; NaN: there is none. */
typedef struct pcPageRow {
    const char *name, *unit;
    const double* value; /* one per column */
    bool plain;          /* less of it is not better: nothing stands out */
} pcPageRow;
typedef struct pcPageTable {
    const char* title;
    bool marked; /* the least of a row is the best of it, and stands out, but of plain ones */
    int columns, rows;
    const char* const* column;
    const pcPageRow* row;
} pcPageTable;

/* A quantity over a grid: value[j * columns + i] at x[i], y[j]; NaN: there is none. low < high: what the colours begin and end with. */
typedef struct pcPageMap {
    const char *title, *name, *xName, *yName;
    int columns, rows;
    const double *x, *y, *value;
    const int* count; /* of trials in a cell; NULL: not said */
    double low, high; /* equal: from the values */
} pcPageMap;

/* A quantity against a step, both on logarithmic axes; each series with the line fitted to its points. */
typedef struct pcPageSeries {
    const char* name;
    int points;
    const double (*point)[2];
} pcPageSeries;
typedef struct pcPageSlopes {
    const char *title, *xName;
    int series;
    const pcPageSeries* serie;
} pcPageSlopes;

typedef struct pcPage {
    const char *title, *subtitle, *command;
    int facts, notes, recordings, maps, slopes;
    const pcPageFact* fact;
    const char* const* note;
    const pcPageTable* verdict; /* NULL: none */
    pcRecording* recording;     /* of the same scene; thinned where the page would be too large */
    const pcPageMap* map;
    const pcPageSlopes* slope;
} pcPage;

/* Whether this build has the script; if not, pcLastError() says how to get one. */
pcStatus pcPageAvailable(void);

/* A page in the making: FILE.part, so that a name that cannot be written is found out before anything runs, and nobody sees half a page. */
typedef struct pcPageFile pcPageFile;
pcStatus pcPageBegin(const char* file, pcPageFile** out);
pcStatus pcPageWrite(pcPageFile* file, const pcPage* page); /* and ends it, well or not */
void pcPageDrop(pcPageFile* fileOrNull);

/* The processor, its cores and the system, in one line. */
void pcPageMachine(char* text, int room);
void pcPageDate(char* text, int room);

/* The words of a command as one would type them: quoted where a shell needs it. */
void pcPageCommand(char* text, int room, const char* command, int argc, char** argv);

#endif

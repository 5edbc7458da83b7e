#define _POSIX_C_SOURCE 200809L
#include "adapters/report/page.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/report/asset.h"
#include "adapters/report/json.h"
#include "adapters/report/numbers.h"
#include "adapters/report/scenery.h"
#include "base/status.h"

/* ---- what ran ---- */

static void writeFacts(pcJson* json, const pcPage* page)
{
    pcJsonKey(json, "facts");
    pcJsonOpen(json, '[');
    for (int i = 0; i < page->facts; i++) {
        pcJsonOpen(json, '[');
        pcJsonText(json, page->fact[i].name);
        pcJsonText(json, page->fact[i].value);
        pcJsonClose(json, ']');
    }
    pcJsonClose(json, ']');
}

static void writeNotes(pcJson* json, const pcPage* page)
{
    pcJsonKey(json, "notes");
    pcJsonOpen(json, '[');
    for (int i = 0; i < page->notes; i++) pcJsonText(json, page->note[i]);
    for (int i = 0; i < page->recordings; i++) {
        const pcRecording* r = page->recording + i;
        char text[256];
        if (r->stride == 1) continue;
        snprintf(text, sizeof text, "%s: of %d steps one in %d is shown, to keep this page below %d MB.", r->name, r->taken, r->stride,
                 PC_PAGE_MOST / 1000000);
        pcJsonText(json, text);
    }
    pcJsonClose(json, ']');
}

static void writeVerdict(pcJson* json, const pcPageTable* table)
{
    pcJsonKey(json, "verdict");
    pcJsonOpen(json, '{');
    pcJsonKey(json, "title"), pcJsonText(json, table->title);
    pcJsonKey(json, "marked"), pcJsonNumber(json, table->marked);
    pcJsonKey(json, "columns");
    pcJsonOpen(json, '[');
    for (int k = 0; k < table->columns; k++) pcJsonText(json, table->column[k]);
    pcJsonClose(json, ']');
    pcJsonKey(json, "rows");
    pcJsonOpen(json, '[');
    for (int i = 0; i < table->rows; i++) {
        pcJsonOpen(json, '{');
        pcJsonKey(json, "name"), pcJsonText(json, table->row[i].name);
        pcJsonKey(json, "unit"), pcJsonText(json, table->row[i].unit);
        pcJsonKey(json, "plain"), pcJsonNumber(json, table->row[i].plain);
        pcJsonKey(json, "values"), pcJsonNumbers(json, table->row[i].value, table->columns);
        pcJsonClose(json, '}');
    }
    pcJsonClose(json, ']');
    pcJsonClose(json, '}');
}

/* ---- figures ---- */

static void writeGrid(pcJson* json, const char* key, const pcPageMap* map, const double* value, const int* count)
{
    if (!value && !count) return;
    pcJsonKey(json, key);
    pcJsonOpen(json, '[');
    for (int j = 0; j < map->rows; j++) {
        pcJsonOpen(json, '[');
        for (int i = 0; i < map->columns; i++) pcJsonNumber(json, value ? value[j * map->columns + i] : count[j * map->columns + i]);
        pcJsonClose(json, ']');
    }
    pcJsonClose(json, ']');
}

static void writeMap(pcJson* json, const pcPageMap* map)
{
    pcJsonOpen(json, '{');
    pcJsonKey(json, "title"), pcJsonText(json, map->title);
    pcJsonKey(json, "name"), pcJsonText(json, map->name);
    pcJsonKey(json, "xName"), pcJsonText(json, map->xName);
    pcJsonKey(json, "yName"), pcJsonText(json, map->yName);
    pcJsonKey(json, "x"), pcJsonNumbers(json, map->x, map->columns);
    pcJsonKey(json, "y"), pcJsonNumbers(json, map->y, map->rows);
    writeGrid(json, "value", map, map->value, NULL);
    if (map->count) writeGrid(json, "count", map, NULL, map->count);
    if (map->low < map->high) {
        pcJsonKey(json, "low"), pcJsonNumber(json, map->low);
        pcJsonKey(json, "high"), pcJsonNumber(json, map->high);
    }
    pcJsonClose(json, '}');
}

static void writeSlopes(pcJson* json, const pcPageSlopes* slopes)
{
    pcJsonOpen(json, '{');
    pcJsonKey(json, "title"), pcJsonText(json, slopes->title);
    pcJsonKey(json, "xName"), pcJsonText(json, slopes->xName);
    pcJsonKey(json, "series");
    pcJsonOpen(json, '[');
    for (int i = 0; i < slopes->series; i++) {
        pcJsonOpen(json, '{');
        pcJsonKey(json, "name"), pcJsonText(json, slopes->serie[i].name);
        pcJsonKey(json, "points");
        pcJsonOpen(json, '[');
        for (int k = 0; k < slopes->serie[i].points; k++) pcJsonNumbers(json, slopes->serie[i].point[k], 2);
        pcJsonClose(json, ']');
        pcJsonClose(json, '}');
    }
    pcJsonClose(json, ']');
    pcJsonClose(json, '}');
}

/* ---- the data of a page ---- */

static void writeJson(pcJson* json, pcNumbers* numbers, const pcPage* page)
{
    pcJsonOpen(json, '{');
    pcJsonKey(json, "title"), pcJsonText(json, page->title);
    pcJsonKey(json, "subtitle"), pcJsonText(json, page->subtitle);
    pcJsonKey(json, "command"), pcJsonText(json, page->command);
    writeFacts(json, page);
    writeNotes(json, page);
    if (page->verdict) writeVerdict(json, page->verdict);
    if (page->recordings > 0) pcSceneryWrite(json, numbers, page->recording, page->recordings);
    pcJsonKey(json, "maps");
    pcJsonOpen(json, '[');
    for (int i = 0; i < page->maps; i++) writeMap(json, page->map + i);
    pcJsonClose(json, ']');
    pcJsonKey(json, "slopes");
    pcJsonOpen(json, '[');
    for (int i = 0; i < page->slopes; i++) writeSlopes(json, page->slope + i);
    pcJsonClose(json, ']');
    pcJsonClose(json, '}');
}

typedef struct Data {
    char* text; /* JSON */
    size_t textSize;
    unsigned char* packed;
    size_t packedSize;
} Data;

static void freeData(Data* data)
{
    free(data->text);
    free(data->packed);
    *data = (Data){0};
}

static bool makeData(const pcPage* page, Data* data)
{
    pcNumbers numbers = {0};
    *data = (Data){0};
    pcJson json = {open_memstream(&data->text, &data->textSize), false};
    if (!json.file) return false;
    writeJson(&json, &numbers, page);
    bool good = fclose(json.file) == 0;
    data->packed = good ? pcNumbersPack(&numbers, &data->packedSize) : NULL;
    pcNumbersFree(&numbers);
    if (data->packed) return true;
    freeData(data);
    return false;
}

static size_t pageSize(const Data* data)
{
    return 4096 + pcReportScriptSize() + pcReportStyleSize() + data->textSize + pcBase64Size(data->packedSize);
}

static bool thin(const pcPage* page)
{
    bool some = false;
    for (int i = 0; i < page->recordings; i++)
        if (page->recording[i].frames > 2) pcRecordingThin(page->recording + i), some = true;
    return some;
}

static pcStatus fitData(const pcPage* page, Data* data)
{
    for (;;) {
        if (!makeData(page, data)) return pcFail(PC_ERROR_MEMORY, "out of memory for a page");
        if (pageSize(data) <= PC_PAGE_MOST || !thin(page)) return PC_OK;
        freeData(data);
    }
}

/* ---- the file ---- */

struct pcPageFile {
    char name[PATH_MAX], part[PATH_MAX];
    FILE* file;
};

pcStatus pcPageAvailable(void)
{
    if (pcReportScriptSize() > 0) return PC_OK;
    return pcFail(PC_ERROR_UNSUPPORTED,
                  "this build has no reports: Node.js and npm were not there when it was made; install nodejs and npm, then build again");
}

pcStatus pcPageBegin(const char* name, pcPageFile** out)
{
    pcStatus status = pcPageAvailable();
    if (status != PC_OK) return status;
    pcPageFile* f = malloc(sizeof *f);
    if (!f) return pcFail(PC_ERROR_MEMORY, "out of memory for a page");
    if (snprintf(f->part, sizeof f->part, "%s.part", name) >= (int)sizeof f->part) {
        free(f);
        return pcFail(PC_ERROR_ARGUMENT, "the name '%s' is too long", name);
    }
    snprintf(f->name, sizeof f->name, "%s", name);
    f->file = fopen(f->part, "w");
    if (f->file) {
        *out = f;
        return PC_OK;
    }
    free(f);
    return pcFail(PC_ERROR_ARGUMENT, "'%s' cannot be written", name);
}

void pcPageDrop(pcPageFile* f)
{
    if (!f) return;
    fclose(f->file);
    remove(f->part);
    free(f);
}

/* No request may leave the page: the policy allows what stands in it and nothing else. */
static void writeHtml(FILE* file, const Data* data)
{
    fputs(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>pcontact</title>\n<style>",
        file);
    fwrite(pcReportStyle(), 1, pcReportStyleSize(), file);
    fputs("</style>\n</head>\n<body>\n<main id=\"pc-root\"><noscript>This page needs JavaScript.</noscript></main>\n"
          "<script type=\"application/json\" id=\"pc-page\">",
          file);
    fwrite(data->text, 1, data->textSize, file);
    fputs("</script>\n<script type=\"application/octet-stream\" id=\"pc-numbers\">", file);
    pcBase64Write(file, data->packed, data->packedSize);
    fputs("</script>\n<script>", file);
    fwrite(pcReportScript(), 1, pcReportScriptSize(), file);
    fputs("</script>\n</body>\n</html>\n", file);
}

pcStatus pcPageWrite(pcPageFile* f, const pcPage* page)
{
    Data data = {0};
    pcStatus status = fitData(page, &data);
    if (status != PC_OK) {
        pcPageDrop(f);
        return status;
    }
    writeHtml(f->file, &data);
    freeData(&data);
    bool good = !ferror(f->file);
    good = fclose(f->file) == 0 && good;
    good = good && rename(f->part, f->name) == 0;
    if (!good) {
        remove(f->part);
        status = pcFail(PC_ERROR_ARGUMENT, "'%s' could not be written to its end", f->name);
    }
    free(f);
    return status;
}

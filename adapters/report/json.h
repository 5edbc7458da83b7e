/* Writes JSON that may stand inside a page: what could end a script element, or is no letter at all, is escaped. Commas come by themselves. */
#ifndef PC_REPORT_JSON_H
#define PC_REPORT_JSON_H

#include <stdbool.h>
#include <stdio.h>

typedef struct pcJson {
    FILE* file;
    bool comma; /* something stands before */
} pcJson;

void pcJsonOpen(pcJson* json, char bracket); /* '{' or '[' */
void pcJsonClose(pcJson* json, char bracket);
void pcJsonKey(pcJson* json, const char* key);
void pcJsonText(pcJson* json, const char* text);
void pcJsonNumber(pcJson* json, double number); /* what is not finite is null */
void pcJsonNumbers(pcJson* json, const double* number, int count);

#endif

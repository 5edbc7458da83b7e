#include "adapters/report/json.h"

#include <math.h>

static void separate(pcJson* json)
{
    if (json->comma) fputc(',', json->file);
    json->comma = true;
}

void pcJsonOpen(pcJson* json, char bracket)
{
    separate(json);
    fputc(bracket, json->file);
    json->comma = false;
}

void pcJsonClose(pcJson* json, char bracket)
{
    fputc(bracket, json->file);
    json->comma = true;
}

/* How many bytes the UTF-8 letter at `s` has; 0: it is none. */
static int letterAt(const unsigned char* s)
{
    int length = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
    for (int k = 1; k < length; k++)
        if ((s[k] & 0xc0) != 0x80) return 0;
    if (length == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))) return 0; /* too long a form; half a pair */
    if (length == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))) return 0;
    return length;
}

/* Names come from files of others: '<', '>' and '&' would be markup, control letters are no JSON, bytes that are no UTF-8 become U+FFFD. */
static void putText(FILE* file, const char* text)
{
    fputc('"', file);
    for (const unsigned char* s = (const unsigned char*)text; *s;) {
        int length = letterAt(s);
        if (length == 0)
            fputs("\\ufffd", file);
        else if (length == 1 && (*s < 32 || *s == '<' || *s == '>' || *s == '&' || *s == '"' || *s == '\\' || *s == 127))
            fprintf(file, "\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)length, file);
        s += length ? length : 1;
    }
    fputc('"', file);
}

void pcJsonKey(pcJson* json, const char* key)
{
    separate(json);
    putText(json->file, key);
    fputc(':', json->file);
    json->comma = false;
}

void pcJsonText(pcJson* json, const char* text)
{
    separate(json);
    putText(json->file, text);
}

void pcJsonNumber(pcJson* json, double number)
{
    separate(json);
    if (isfinite(number))
        fprintf(json->file, "%.9g", number);
    else
        fputs("null", json->file);
}

void pcJsonNumbers(pcJson* json, const double* number, int count)
{
    pcJsonOpen(json, '[');
    for (int i = 0; i < count; i++) pcJsonNumber(json, number[i]);
    pcJsonClose(json, ']');
}

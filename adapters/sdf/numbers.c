/* Numbers, strictly: decimal, finite, with a point whatever the locale, and as many as are wanted. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sdf/reader.h"
#include "base/pose.h"

enum { LONGEST_NUMBER = 64 };

/* The word at *text, and *text after it; its length, 0 if there is none, -1 if it is too long to be a number. */
static int wordAt(const char** text, char word[LONGEST_NUMBER])
{
    int length = 0;
    while (pcSdfIsBlank(**text)) (*text)++;
    for (; **text && !pcSdfIsBlank(**text); (*text)++) {
        if (length == LONGEST_NUMBER - 1) return -1;
        word[length++] = **text;
    }
    word[length] = 0;
    return length;
}

bool pcSdfWord(const char* word, double* out)
{
    char copy[LONGEST_NUMBER];
    char* end;
    if (strlen(word) >= LONGEST_NUMBER || word[strspn(word, "0123456789+-.eE")]) return false;
    strcpy(copy, word);
    char* point = strchr(copy, '.');
    if (point) *point = localeconv()->decimal_point[0];
    *out = strtod(copy, &end);
    return end != copy && !*end && isfinite(*out);
}

static bool infinityOf(const char* word, double* out)
{
    static const char* const names[] = {"inf", "+inf", "INF", "Inf", "infinity"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0) return *out = HUGE_VAL, true;
    if (strcmp(word, "-inf") == 0 || strcmp(word, "-INF") == 0) return *out = -HUGE_VAL, true;
    return false;
}

/* Products of a few numbers of a file must stay far from where doubles end. */
static bool inReach(pcSdfReader* r, const xmlNode* node, const char* word, double* value)
{
    const double largest = 1e30, smallest = 1e-30;
    if (fabs(*value) < smallest) *value = 0.0;
    if (fabs(*value) <= largest) return true;
    pcSdfFail(r, node, "<%s> has %s, which is beyond %g", node->name, word, largest);
    return false;
}

bool pcSdfNumbers(pcSdfReader* r, const xmlNode* node, double* out, int count)
{
    const char *text = pcSdfText(r, node), *at = text;
    char word[LONGEST_NUMBER];
    for (int i = 0; i < count; i++) {
        int length = wordAt(&at, word);
        bool good = length > 0 && pcSdfWord(word, out + i);
        if (good && !inReach(r, node, word, out + i)) return false;
        if (good) continue;
        pcSdfFail(r, node, "<%s> must be %d finite number%s, not '%.60s'", node->name, count, count > 1 ? "s" : "", text);
        return false;
    }
    if (wordAt(&at, word) == 0) return r->status == PC_OK;
    pcSdfFail(r, node, "<%s> has more than %d number%s: '%.60s'", node->name, count, count > 1 ? "s" : "", text);
    return false;
}

double* pcSdfList(pcSdfReader* r, const xmlNode* node, int* count)
{
    const char *text = pcSdfText(r, node), *at = text;
    char word[LONGEST_NUMBER];
    int words = 0;
    while (wordAt(&at, word) != 0) words++;
    double* list = pcSdfKeep(r, (size_t)(words + 1) * sizeof *list);
    *count = list && pcSdfNumbers(r, node, list, words > 0 ? words : 1) ? words : 0;
    return *count > 0 ? list : NULL;
}

double pcSdfNumber(pcSdfReader* r, const xmlNode* parent, const char* name, double missing)
{
    double value;
    const xmlNode* node = pcSdfChild(parent, name);
    return node && pcSdfNumbers(r, node, &value, 1) ? value : missing;
}

double pcSdfPositive(pcSdfReader* r, const xmlNode* parent, const char* name, double missing)
{
    double value = pcSdfNumber(r, parent, name, missing);
    if (value < 0.0) pcSdfFail(r, pcSdfChild(parent, name), "<%s> is %g; it must not be negative", name, value);
    return value < 0.0 ? missing : value;
}

double pcSdfWithin(pcSdfReader* r, const xmlNode* parent, const char* name, pcSdfRange range, double missing)
{
    double value = pcSdfNumber(r, parent, name, missing);
    if (value >= range.least && value <= range.most) return value;
    if (!isnan(value)) pcSdfFail(r, pcSdfChild(parent, name), "<%s> is %g; it must be from %g to %g", name, value, range.least, range.most);
    return missing;
}

/* Also numbers that are too large for others mean infinity here: many a tool writes the largest double. */
double pcSdfLimit(pcSdfReader* r, const xmlNode* parent, const char* name, double missing)
{
    double value;
    const xmlNode* node = pcSdfChild(parent, name);
    if (!node) return missing;
    const char* text = pcSdfText(r, node);
    if (infinityOf(text, &value)) return value;
    if (pcSdfWord(text, &value) && fabs(value) >= 1e15) return copysign(HUGE_VAL, value);
    return pcSdfNumbers(r, node, &value, 1) ? value : missing;
}

double pcSdfMost(pcSdfReader* r, const xmlNode* parent, const char* name, double missing)
{
    double value = pcSdfLimit(r, parent, name, missing);
    if (value < 0.0) pcSdfFail(r, pcSdfChild(parent, name), "<%s> is %g; it must not be negative", name, value);
    return value < 0.0 ? missing : value;
}

int pcSdfInteger(pcSdfReader* r, const xmlNode* parent, const char* name, int missing)
{
    double value = pcSdfNumber(r, parent, name, missing);
    if (value == floor(value) && fabs(value) < 2e9) return (int)value;
    pcSdfFail(r, pcSdfChild(parent, name), "<%s> is %g; it must be a whole number", name, value);
    return missing;
}

bool pcSdfFlag(pcSdfReader* r, const xmlNode* parent, const char* name, bool missing)
{
    const xmlNode* node = pcSdfChild(parent, name);
    if (!node) return missing;
    const char* text = pcSdfText(r, node);
    if (!strcmp(text, "1") || !strcmp(text, "true") || !strcmp(text, "True") || !strcmp(text, "TRUE")) return true;
    if (!strcmp(text, "0") || !strcmp(text, "false") || !strcmp(text, "False") || !strcmp(text, "FALSE")) return false;
    pcSdfFail(r, node, "<%s> must be true or false, not '%.60s'", name, text);
    return missing;
}

unsigned pcSdfBits(pcSdfReader* r, const xmlNode* parent, const char* name, unsigned missing)
{
    const xmlNode* node = pcSdfChild(parent, name);
    if (!node) return missing;
    const char* text = pcSdfText(r, node);
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char* digits = hex ? text + 2 : text;
    unsigned long long bits = strtoull(digits, NULL, hex ? 16 : 10);
    bool clean = *digits && !digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")];
    if (!clean || bits > 0xffffffffu) pcSdfFail(r, node, "<%s> must be a number of at most 32 bits, not '%.60s'", name, text);
    return (unsigned)bits;
}

void pcSdfVector(pcSdfReader* r, const xmlNode* parent, const char* name, double out[3])
{
    double value[3];
    const xmlNode* node = pcSdfChild(parent, name);
    if (node && pcSdfNumbers(r, node, value, 3)) memcpy(out, value, sizeof value);
}

bool pcSdfDirection(pcSdfReader* r, const xmlNode* node, double xyz[3])
{
    if (!node || !pcSdfNumbers(r, node, xyz, 3)) return false;
    double size = sqrt(xyz[0] * xyz[0] + xyz[1] * xyz[1] + xyz[2] * xyz[2]);
    if (!(size > 1e-100 && size < 1e100)) {
        pcSdfFail(r, node, "<%s> is no direction: its length is %g", node->name, size);
        return false;
    }
    for (int k = 0; k < 3; k++) xyz[k] /= size;
    return true;
}

pcPose pcSdfPose(pcSdfReader* r, const xmlNode* parent)
{
    double v[6];
    const xmlNode* node = pcSdfChild(parent, "pose");
    if (!node || !*pcSdfText(r, node) || !pcSdfNumbers(r, node, v, 6)) return pcSdfIdentity();
    for (int k = 0; k < 3; k++)
        if (fabs(v[k]) > 1e9) pcSdfFail(r, node, "<pose> is %g away: beyond 1e9 nothing is computed", v[k]);
    return pcScenePose(v);
}

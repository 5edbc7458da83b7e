/* What the file has and nobody reads, as one line. */
#include <stdio.h>
#include <string.h>

#include "adapters/sdf/reader.h"

enum { MOST_NAMED = 24 };

void pcSdfNoted(pcSdfReader* r, const char* text)
{
    for (int i = 0; i < r->notes; i++)
        if (strcmp(r->note[i].text, text) == 0) {
            r->note[i].count++;
            return;
        }
    if (r->notes >= MOST_NAMED) text = "other";
    if (r->notes > MOST_NAMED) {
        r->note[MOST_NAMED].count++;
        return;
    }
    if (!pcSdfGrow(r, &r->note, &r->noteRoom, r->notes + 1, sizeof *r->note)) return;
    r->note[r->notes++] = (pcSdfNote){pcSdfKeepText(r, text, strnlen(text, 80)), 1};
}

static bool isKnown(const xmlNode* node, const char* const* known)
{
    for (; *known; known++)
        if (pcSdfIs(node, *known)) return true;
    return false;
}

void pcSdfSkip(pcSdfReader* r, const xmlNode* node, const char* const* known)
{
    for (const xmlNode* child = pcSdfFirst(node); child; child = pcSdfFollowing(child))
        if (!isKnown(child, known)) pcSdfNoted(r, (const char*)child->name);
}

const char* pcSdfNotes(pcSdfReader* r)
{
    size_t room = 1;
    for (int i = 0; i < r->notes; i++) room += strlen(r->note[i].text) + 16;
    char *line = pcSdfKeep(r, room), *at = line;
    for (int i = 0; line && i < r->notes; i++)
        at += snprintf(at, room - (size_t)(at - line), "%s%d %s", i ? ", " : "", r->note[i].count, r->note[i].text);
    return line ? line : "";
}

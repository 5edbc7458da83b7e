/*
 * XML by libxml2: from memory, without network, without any document type declaration (so without entities of the file's own), not deeper
 * and not larger than the limits.
 */
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "adapters/sdf/reader.h"
#include "base/status.h"

const char* pcSdfFile(const xmlNode* node) { return node && node->doc && node->doc->URL ? (const char*)node->doc->URL : "?"; }

void pcSdfFail(pcSdfReader* r, const xmlNode* node, const char* format, ...)
{
    char sentence[400];
    va_list arguments;
    if (r->status != PC_OK) return;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    for (char* at = sentence; *at; at++) /* the file's own words may have any */
        if ((unsigned char)*at < ' ') *at = ' ';
    r->status = pcFail(PC_ERROR_ARGUMENT, "%s:%ld: %s", pcSdfFile(node), xmlGetLineNo((xmlNode*)node), sentence);
}

/* ---- going through elements ---- */

bool pcSdfIs(const xmlNode* node, const char* name)
{
    return node && node->type == XML_ELEMENT_NODE && strcmp((const char*)node->name, name) == 0;
}

static xmlNode* elementFrom(xmlNode* node)
{
    while (node && node->type != XML_ELEMENT_NODE) node = node->next;
    return node;
}

xmlNode* pcSdfFirst(const xmlNode* node) { return node ? elementFrom(node->children) : NULL; }
xmlNode* pcSdfFollowing(const xmlNode* node) { return node ? elementFrom(node->next) : NULL; }

xmlNode* pcSdfChild(const xmlNode* node, const char* name)
{
    xmlNode* child = pcSdfFirst(node);
    while (child && !pcSdfIs(child, name)) child = pcSdfFollowing(child);
    return child;
}

xmlNode* pcSdfNext(const xmlNode* child)
{
    xmlNode* next = pcSdfFollowing(child);
    while (next && !pcSdfIs(next, (const char*)child->name)) next = pcSdfFollowing(next);
    return next;
}

/* ---- text ---- */

bool pcSdfIsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static const char* keepTrimmed(pcSdfReader* r, xmlChar* text)
{
    const char* from = text ? (const char*)text : "";
    size_t length = strlen(from);
    while (length > 0 && pcSdfIsBlank(from[length - 1])) length--;
    while (length > 0 && pcSdfIsBlank(*from)) from++, length--;
    const char* kept = pcSdfKeepText(r, from, length);
    xmlFree(text);
    return kept;
}

const char* pcSdfText(pcSdfReader* r, const xmlNode* node) { return node ? keepTrimmed(r, xmlNodeGetContent(node)) : ""; }

const char* pcSdfAttribute(pcSdfReader* r, const xmlNode* node, const char* name)
{
    xmlChar* value = xmlGetNoNsProp(node, (const xmlChar*)name);
    return value ? keepTrimmed(r, value) : NULL;
}

/* ---- files ---- */

char* pcSdfReadAll(pcSdfReader* r, const char* file, size_t* size)
{
    struct stat about;
    FILE* in = fopen(file, "rb");
    char* text = NULL;
    if (!in || fstat(fileno(in), &about) != 0 || !S_ISREG(about.st_mode)) {
        r->status = pcFail(PC_ERROR_ARGUMENT, "%s:0: there is no such file, or it cannot be read", file);
    } else if (about.st_size > PC_SDF_MOST_BYTES) {
        r->status = pcFail(PC_ERROR_ARGUMENT, "%s:0: the file is larger than %d MB", file, PC_SDF_MOST_BYTES >> 20);
    } else if (!(text = malloc((size_t)about.st_size + 1))) {
        r->status = pcFail(PC_ERROR_MEMORY, "out of memory for the file %s", file);
    } else {
        *size = fread(text, 1, (size_t)about.st_size, in);
    }
    if (in) fclose(in);
    return text;
}

/* What went wrong first. */
typedef struct Trouble {
    int doctypeLine, line;
    char message[200];
} Trouble;

static void refuseDoctype(void* context, const xmlChar* name, const xmlChar* publicId, const xmlChar* systemId)
{
    (void)name, (void)publicId, (void)systemId;
    xmlParserCtxt* parser = context;
    Trouble* trouble = parser->_private;
    trouble->doctypeLine = parser->input ? parser->input->line : 1;
    xmlStopParser(parser);
}

static void noteTrouble(void* context, xmlError* error)
{
    Trouble* trouble = ((xmlParserCtxt*)context)->_private;
    if (trouble->line > 0 || error->level < XML_ERR_ERROR) return;
    trouble->line = error->line > 0 ? error->line : 1;
    snprintf(trouble->message, sizeof trouble->message, "%.*s", (int)strcspn(error->message, "\n"), error->message);
}

static pcStatus statusOf(const char* file, const xmlParserCtxt* parser, const Trouble* trouble)
{
    if (trouble->doctypeLine > 0)
        return pcFail(PC_ERROR_ARGUMENT, "%s:%d: a document type declaration is not accepted", file, trouble->doctypeLine);
    if (parser->wellFormed && parser->myDoc) return PC_OK;
    return pcFail(PC_ERROR_ARGUMENT, "%s:%d: not well-formed XML: %s", file, trouble->line > 0 ? trouble->line : 1, trouble->message);
}

static xmlDoc* parse(pcSdfReader* r, const char* file, const char* text, int length)
{
    Trouble trouble = {0};
    xmlParserCtxt* parser = xmlCreateMemoryParserCtxt(text, length > 0 ? length : 1);
    if (!parser) {
        r->status = pcFail(PC_ERROR_MEMORY, "out of memory for the file %s", file);
        return NULL;
    }
    xmlCtxtUseOptions(parser, XML_PARSE_NONET | XML_PARSE_NOCDATA | XML_PARSE_BIG_LINES);
    parser->_private = &trouble;
    parser->sax->internalSubset = refuseDoctype;
    parser->sax->serror = noteTrouble;
    xmlParseDocument(parser);
    r->status = statusOf(file, parser, &trouble);
    xmlDoc* doc = parser->myDoc;
    parser->myDoc = NULL;
    xmlFreeParserCtxt(parser);
    if (r->status == PC_OK) return doc;
    xmlFreeDoc(doc);
    return NULL;
}

static void checkDepth(pcSdfReader* r, const xmlNode* node, int depth)
{
    if (depth > PC_SDF_MOST_DEPTH) pcSdfFail(r, node, "elements stand more than %d deep in each other", PC_SDF_MOST_DEPTH);
    for (const xmlNode* child = pcSdfFirst(node); child && r->status == PC_OK; child = pcSdfFollowing(child))
        checkDepth(r, child, depth + 1);
}

xmlNode* pcSdfOpen(pcSdfReader* r, const char* file)
{
    size_t size = 0;
    if (r->status != PC_OK || !pcSdfGrow(r, &r->doc, &r->docRoom, r->docs + 1, sizeof *r->doc)) return NULL;
    char* text = pcSdfReadAll(r, file, &size);
    if (text) text[size] = 0; /* an empty file is one of a single 0, which is no XML either */
    xmlDoc* doc = text ? parse(r, file, text, (int)size) : NULL;
    free(text);
    if (!doc) return NULL;
    r->doc[r->docs++] = doc;
    xmlFree((xmlChar*)doc->URL);
    doc->URL = xmlStrdup((const xmlChar*)file);
    xmlNode* root = xmlDocGetRootElement(doc);
    if (!root) r->status = pcFail(PC_ERROR_ARGUMENT, "%s:1: the file has no element", file);
    checkDepth(r, root, 1);
    return r->status == PC_OK ? root : NULL;
}

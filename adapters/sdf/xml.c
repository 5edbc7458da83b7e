/*
 * XML by libxml2: from memory, without network, without any document type declaration (so without entities of the file's own), not deeper
 * and not larger than the limits.
 */
#include <fcntl.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* As many bytes as there are, up to a size. */
static size_t readUpTo(int in, char* text, size_t size)
{
    size_t at = 0;
    for (ssize_t got; at < size && (got = read(in, text + at, size - at)) > 0;) at += (size_t)got;
    return at;
}

/* Not waiting: a pipe that nobody writes to would be opened for ever. */
char* pcSdfReadAll(pcSdfReader* r, const char* file, size_t* size)
{
    struct stat about;
    int in = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char* text = NULL;
    if (in < 0 || fstat(in, &about) != 0 || !S_ISREG(about.st_mode)) {
        r->status = pcFail(PC_ERROR_ARGUMENT, "%s:0: there is no such file, or it cannot be read", file);
    } else if (about.st_size > PC_SDF_MOST_BYTES) {
        r->status = pcFail(PC_ERROR_ARGUMENT, "%s:0: the file is larger than %d MB", file, PC_SDF_MOST_BYTES >> 20);
    } else if ((r->read += (size_t)about.st_size) > PC_SDF_MOST_READ) {
        r->status = pcFail(PC_ERROR_ARGUMENT, "%s:0: all files together are larger than %d MB", file, PC_SDF_MOST_READ >> 20);
    } else if (!(text = malloc((size_t)about.st_size + 1))) {
        r->status = pcFail(PC_ERROR_MEMORY, "out of memory for the file %s", file);
    } else {
        *size = readUpTo(in, text, (size_t)about.st_size);
    }
    if (in >= 0) close(in);
    return text;
}

/* Behind what stands at `at`, if it is a comment or the like; NULL: it is not. Only libxml2 judges whether it is well-formed. */
static const char* skipAside(const char* at)
{
    static const char* const asides[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    for (size_t i = 0; i < sizeof asides / sizeof *asides; i++) {
        if (strncmp(at, asides[i][0], strlen(asides[i][0])) != 0) continue;
        const char* end = strstr(at + strlen(asides[i][0]), asides[i][1]);
        return end ? end : at + strlen(at);
    }
    return NULL;
}

/* libxml2 compares each attribute of an element with each other, before anybody is asked. */
static bool hasCrowdedElement(const char* text)
{
    char quote = 0;
    int attributes = -1; /* -1: outside of an element's tag */
    for (const char* at = text; *at; at++) {
        const char* aside = attributes < 0 && *at == '<' ? skipAside(at) : NULL;
        if (aside) {
            at = *aside ? aside : aside - 1;
        } else if (attributes < 0) {
            if (*at == '<') attributes = 0;
        } else if (quote) {
            if (*at == quote) quote = 0;
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
            if (++attributes > PC_SDF_MOST_ATTRIBUTES) return true;
        } else if (*at == '>') {
            attributes = -1;
        }
    }
    return false;
}

/* What went wrong first. */
typedef struct Trouble {
    int* elements; /* so far, of all files */
    int doctypeLine, crowdedLine, line;
    bool outOfMemory;
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

/* An element takes a hundred times the bytes that it takes in the file. */
static void countElement(void* context, const xmlChar* name, const xmlChar* prefix, const xmlChar* uri, int namespaces,
                         const xmlChar** namespaced, int attributes, int defaulted, const xmlChar** attribute)
{
    xmlParserCtxt* parser = context;
    Trouble* trouble = parser->_private;
    *trouble->elements += 1 + attributes + namespaces;
    if (*trouble->elements <= PC_SDF_MOST_ELEMENTS) {
        xmlSAX2StartElementNs(context, name, prefix, uri, namespaces, namespaced, attributes, defaulted, attribute);
        return;
    }
    trouble->crowdedLine = parser->input ? parser->input->line : 1;
    xmlStopParser(parser);
}

static void noteTrouble(void* context, xmlError* error)
{
    Trouble* trouble = ((xmlParserCtxt*)context)->_private;
    trouble->outOfMemory |= error->code == XML_ERR_NO_MEMORY;
    if (trouble->line > 0 || error->level < XML_ERR_ERROR) return;
    trouble->line = error->line > 0 ? error->line : 1;
    snprintf(trouble->message, sizeof trouble->message, "%.*s", (int)strcspn(error->message, "\n"), error->message);
}

static pcStatus statusOf(const char* file, const xmlParserCtxt* parser, const Trouble* trouble)
{
    if (trouble->outOfMemory) return pcFail(PC_ERROR_MEMORY, "out of memory for the file %s", file);
    if (trouble->doctypeLine > 0)
        return pcFail(PC_ERROR_ARGUMENT, "%s:%d: a document type declaration is not accepted", file, trouble->doctypeLine);
    if (trouble->crowdedLine > 0)
        return pcFail(PC_ERROR_ARGUMENT, "%s:%d: there are more than %d elements and attributes", file, trouble->crowdedLine,
                      PC_SDF_MOST_ELEMENTS);
    if (parser->wellFormed && parser->myDoc) return PC_OK;
    return pcFail(PC_ERROR_ARGUMENT, "%s:%d: not well-formed XML: %s", file, trouble->line > 0 ? trouble->line : 1, trouble->message);
}

static xmlDoc* parse(pcSdfReader* r, const char* file, const char* text, int length)
{
    Trouble trouble = {.elements = &r->elements};
    xmlParserCtxt* parser = xmlCreateMemoryParserCtxt(text, length > 0 ? length : 1);
    if (!parser) {
        r->status = pcFail(PC_ERROR_MEMORY, "out of memory for the file %s", file);
        return NULL;
    }
    xmlCtxtUseOptions(parser, XML_PARSE_NONET | XML_PARSE_NOCDATA | XML_PARSE_BIG_LINES);
    parser->_private = &trouble;
    parser->sax->internalSubset = refuseDoctype;
    parser->sax->startElementNs = countElement;
    parser->sax->comment = NULL;
    parser->sax->processingInstruction = NULL;
    parser->sax->serror = noteTrouble;
    xmlParseDocument(parser);
    if (r->status == PC_OK) r->status = statusOf(file, parser, &trouble);
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
    if (text && hasCrowdedElement(text))
        r->status = pcFail(PC_ERROR_ARGUMENT, "%s:0: an element has more than %d attributes", file, PC_SDF_MOST_ATTRIBUTES);
    xmlDoc* doc = r->status == PC_OK ? parse(r, file, text, (int)size) : NULL;
    free(text);
    if (!doc) return NULL;
    r->doc[r->docs++] = doc;
    xmlFree((xmlChar*)doc->URL);
    doc->URL = xmlStrdup((const xmlChar*)file);
    if (!doc->URL) pcSdfOutOfMemory(r);
    xmlNode* root = xmlDocGetRootElement(doc);
    if (!root) r->status = pcFail(PC_ERROR_ARGUMENT, "%s:1: the file has no element", file);
    checkDepth(r, root, 1);
    return r->status == PC_OK ? root : NULL;
}

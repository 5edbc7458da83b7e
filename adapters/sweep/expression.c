#include "adapters/sweep/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sweep/vary.h"
#include "base/status.h"

enum { MOST_CODES = 256, MOST_DEPTH = 64 };

/* Postfix: what to push, or what to do with what is on top. */
typedef enum Op {
    NUMBER,
    NAME,
    NEGATE,
    NOT,
    ADD,
    SUBTRACT,
    TIMES,
    DIVIDE,
    LESS,
    LESS_EQUAL,
    MORE,
    MORE_EQUAL,
    EQUAL,
    UNEQUAL,
    AND,
    OR,
    CALL
} Op;

typedef struct Code {
    Op op;
    int which; /* of a name: its index; of a call: the function */
    double number;
} Code;

struct pcExpression {
    int count;
    Code code[MOST_CODES];
};

typedef struct Function {
    const char* name;
    int arguments;
    double (*one)(double);
    double (*two)(double, double);
} Function;

static const Function functions[] = {{"abs", 1, fabs, NULL}, {"sqrt", 1, sqrt, NULL}, {"sin", 1, sin, NULL},     {"cos", 1, cos, NULL},
                                     {"min", 2, NULL, fmin}, {"max", 2, NULL, fmax},  {"hypot", 2, NULL, hypot}, {"atan2", 2, NULL, atan2}};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* ---- reading: each level of binding calls the next tighter one ---- */

typedef struct Reader {
    const char *text, *at;
    pcExpressionFind* find;
    void* context;
    pcExpression* out;
    int depth, stack; /* open brackets; what evaluation will have pushed by here */
    pcStatus status;
} Reader;

static void fail(Reader* r, const char* what)
{
    if (r->status != PC_OK) return;
    if (*r->at)
        r->status = pcFail(PC_ERROR_ARGUMENT, "'%.200s': %s at '%.40s'", r->text, what, r->at);
    else
        r->status = pcFail(PC_ERROR_ARGUMENT, "'%.200s': %s at its end", r->text, what);
}

static void emit(Reader* r, Op op, int which, double number, int pushes)
{
    r->stack += pushes;
    if (r->out->count == MOST_CODES || r->stack > MOST_DEPTH) fail(r, "it is too long");
    if (r->status == PC_OK) r->out->code[r->out->count++] = (Code){op, which, number};
}

static void skipBlanks(Reader* r)
{
    while (isspace((unsigned char)*r->at)) r->at++;
}

static bool isNameLetter(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':'; }

/* Whether `word` comes next; then it is passed. A word of letters must end there. */
static bool accept(Reader* r, const char* word)
{
    skipBlanks(r);
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0 || (isalpha((unsigned char)word[0]) && isNameLetter(r->at[length]))) return false;
    r->at += length;
    return true;
}

static void readOr(Reader* r);

static void readCall(Reader* r, int which)
{
    for (int i = 0; i < functions[which].arguments && r->status == PC_OK; i++) {
        if (i > 0 && !accept(r, ",")) fail(r, "a comma is missing");
        readOr(r);
    }
    if (!accept(r, ")")) fail(r, "a ')' is missing");
    emit(r, CALL, which, 0.0, 1 - functions[which].arguments);
}

static void readName(Reader* r)
{
    char name[PC_VARY_NAME];
    size_t length = 0;
    const char* start = r->at;
    while (isNameLetter(r->at[length]) && length + 1 < sizeof name) length++;
    memcpy(name, r->at, length);
    name[length] = 0, r->at += length;
    if (accept(r, "(")) {
        for (int i = 0; i < FUNCTIONS; i++)
            if (strcmp(functions[i].name, name) == 0) {
                readCall(r, i);
                return;
            }
    }
    int which = r->find(r->context, name);
    r->at = which < 0 ? start : r->at;
    if (which < 0) fail(r, "there is no such name");
    emit(r, NAME, which, 0.0, 1);
}

static void readNumber(Reader* r)
{
    char text[64];
    size_t length = strspn(r->at, "0123456789.");
    if (length > 0 && (r->at[length] == 'e' || r->at[length] == 'E')) {
        size_t sign = r->at[length + 1] == '-' || r->at[length + 1] == '+';
        length += 1 + sign + strspn(r->at + length + 1 + sign, "0123456789");
    }
    double number = 0.0;
    if (length < sizeof text) memcpy(text, r->at, length);
    text[length < sizeof text ? length : 0] = 0;
    if (!pcNumberRead(text, &number)) fail(r, "a number or a name is missing");
    if (r->status == PC_OK) r->at += length;
    emit(r, NUMBER, 0, number, 1);
}

static void readAtom(Reader* r)
{
    if (++r->depth > MOST_DEPTH) fail(r, "it is too deep");
    if (r->status != PC_OK) return;
    if (accept(r, "-")) {
        readAtom(r);
        emit(r, NEGATE, 0, 0.0, 0);
    } else if (accept(r, "(")) {
        readOr(r);
        if (!accept(r, ")")) fail(r, "a ')' is missing");
    } else if (isalpha((unsigned char)*r->at) || *r->at == '_') {
        readName(r);
    } else {
        readNumber(r);
    }
    r->depth--;
}

typedef struct Sign {
    const char* word;
    Op op;
} Sign;

/* Operands of the next level, joined by any of the signs from the left. */
static void readLevel(Reader* r, const Sign* signs, int count, void (*next)(Reader*))
{
    next(r);
    for (int i = 0; i < count && r->status == PC_OK; i++) {
        if (!accept(r, signs[i].word)) continue;
        next(r);
        emit(r, signs[i].op, 0, 0.0, -1);
        i = -1;
    }
}

static void readProduct(Reader* r) { readLevel(r, (const Sign[]){{"*", TIMES}, {"/", DIVIDE}}, 2, readAtom); }
static void readSum(Reader* r) { readLevel(r, (const Sign[]){{"+", ADD}, {"-", SUBTRACT}}, 2, readProduct); }
static void readComparison(Reader* r)
{
    static const Sign signs[] = {{"<=", LESS_EQUAL}, {">=", MORE_EQUAL}, {"==", EQUAL}, {"!=", UNEQUAL}, {"<", LESS}, {">", MORE}};
    readLevel(r, signs, sizeof signs / sizeof *signs, readSum);
}
static void readNot(Reader* r)
{
    bool turned = false;
    while (accept(r, "not")) turned = !turned;
    readComparison(r);
    if (turned) emit(r, NOT, 0, 0.0, 0);
}
static void readAnd(Reader* r) { readLevel(r, (const Sign[]){{"and", AND}}, 1, readNot); }
static void readOr(Reader* r) { readLevel(r, (const Sign[]){{"or", OR}}, 1, readAnd); }

pcStatus pcExpressionParse(const char* text, pcExpressionFind* find, void* context, pcExpression** out)
{
    pcExpression* made = calloc(1, sizeof *made);
    Reader r = {.text = text, .at = text, .find = find, .context = context, .out = made, .status = PC_OK};
    if (!made) return pcFail(PC_ERROR_MEMORY, "out of memory for a formula");
    readOr(&r);
    skipBlanks(&r);
    if (*r.at) fail(&r, "an operator is missing");
    if (r.status == PC_OK)
        *out = made;
    else
        free(made);
    return r.status;
}

void pcExpressionFree(pcExpression* e) { free(e); }

/* ---- evaluating ---- */

static double combine(Op op, double a, double b)
{
    switch (op) {
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case TIMES: return a * b;
    case DIVIDE: return a / b;
    case LESS: return a < b;
    case LESS_EQUAL: return a <= b;
    case MORE: return a > b;
    case MORE_EQUAL: return a >= b;
    case EQUAL: return a == b;
    case UNEQUAL: return a < b || a > b;
    case AND: return a != 0.0 && b != 0.0;
    default: return a != 0.0 || b != 0.0;
    }
}

double pcExpressionValue(const pcExpression* e, const double* values)
{
    double stack[MOST_DEPTH + 1];
    int top = 0;
    for (int i = 0; i < e->count; i++) {
        const Code* c = e->code + i;
        const Function* f = c->op == CALL ? functions + c->which : NULL;
        if (c->op == NUMBER) {
            stack[top++] = c->number;
        } else if (c->op == NAME) {
            stack[top++] = values[c->which];
        } else if (c->op == NEGATE) {
            stack[top - 1] = -stack[top - 1];
        } else if (c->op == NOT) {
            stack[top - 1] = stack[top - 1] == 0.0;
        } else if (f && f->one) {
            stack[top - 1] = f->one(stack[top - 1]);
        } else {
            top--;
            stack[top - 1] = f ? f->two(stack[top - 1], stack[top]) : combine(c->op, stack[top - 1], stack[top]);
        }
    }
    return stack[0];
}

/*
 * Reads what the loader would read of a program or shared library: which libraries it needs, which functions it imports and defines.
 * Nothing in the file is trusted: every offset, count and string is checked against the size of the file before it is used.
 */
#ifndef PC_CLI_ELF_H
#define PC_CLI_ELF_H

#include <stdbool.h>
#include <stddef.h>

typedef enum pcElfKind {
    PC_ELF_OK = 0,
    PC_ELF_NOT,     /* no ELF file */
    PC_ELF_FOREIGN, /* of another machine, or not of 64 bits: nothing more is known */
    PC_ELF_BROKEN   /* truncated, or it contradicts itself */
} pcElfKind;

/* A table of symbols and the names in it: offsets into the file. */
typedef struct pcElfSymbols {
    size_t table, count;
    size_t names, nameSize;
} pcElfSymbols;

enum { PC_ELF_NEEDED = 256 };

/* Strings point into the bytes. */
typedef struct pcElf {
    const unsigned char* bytes;
    size_t size;
    const char* interpreter; /* NULL: not started by a dynamic loader */
    const char* soname;      /* or NULL */
    const char* rpath;       /* or NULL; counts for what its libraries need, too */
    const char* runpath;     /* or NULL */
    int neededCount;
    const char* needed[PC_ELF_NEEDED];
    bool dynamic;                               /* it has a dynamic section */
    pcElfSymbols dynamicSymbols, staticSymbols; /* count 0: none */
} pcElf;

/* The bytes must stay as long as the answer is used. On anything but PC_ELF_OK, `sentence` (never NULL) says what is wrong. */
pcElfKind pcElfRead(const unsigned char* bytes, size_t size, pcElf* elf, const char** sentence);

/* Calls `visit` for every function that the table names, until it returns false. `defined`: not one that has to be found elsewhere. */
typedef bool pcElfVisit(void* context, const char* name, bool defined);
void pcElfEachSymbol(const pcElf* elf, const pcElfSymbols* symbols, pcElfVisit* visit, void* context);

bool pcElfDefines(const pcElf* elf, const char* name);
bool pcElfImports(const pcElf* elf, const char* name);

#endif

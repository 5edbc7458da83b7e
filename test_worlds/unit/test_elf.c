/* The reader of program files: right on a whole program, and unharmed by any file. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/cli/elf.h"
#include "adapters/gtest/pctest.h"

typedef struct Bytes {
    unsigned char* data;
    size_t size;
} Bytes;

/* The program that runs this test: linked dynamically, with symbols. */
static Bytes readSelf(void)
{
    Bytes b = {NULL, 0};
    FILE* file = fopen("/proc/self/exe", "rb");
    if (!file) return b;
    size_t capacity = 1 << 20;
    for (;;) {
        unsigned char* more = realloc(b.data, capacity);
        if (!more) break;
        b.data = more;
        size_t got = fread(b.data + b.size, 1, capacity - b.size, file);
        b.size += got;
        if (b.size < capacity) break;
        capacity *= 2;
    }
    fclose(file);
    return b;
}

typedef struct Tally {
    size_t names, length;
} Tally;

/* Touches every name to its end: a sanitizer sees one that leaves the file. */
static bool tally(void* context, const char* name, bool defined)
{
    Tally* t = context;
    t->names += 1 + defined;
    t->length += strlen(name) < 1000 ? 1 : 0;
    return t->names < 20000;
}

static pcElfKind readAll(const unsigned char* data, size_t size)
{
    pcElf elf;
    const char* sentence = NULL;
    Tally t = {0, 0};
    pcElfKind kind = pcElfRead(data, size, &elf, &sentence);
    PC_EXPECT_TRUE(sentence != NULL);
    if (kind != PC_ELF_OK) return kind;
    for (int i = 0; i < elf.neededCount; i++) tally(&t, elf.needed[i], false);
    if (elf.interpreter) tally(&t, elf.interpreter, false);
    if (elf.runpath) tally(&t, elf.runpath, false);
    pcElfEachSymbol(&elf, &elf.dynamicSymbols, tally, &t);
    pcElfEachSymbol(&elf, &elf.staticSymbols, tally, &t);
    return kind;
}

static unsigned long long state;

static size_t below(size_t limit)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return limit ? (size_t)((state >> 20) % limit) : 0;
}

PC_TEST(Elf, FindsNeededLibrariesAndSymbolsOfThisProgram)
{
    Bytes self = readSelf();
    pcElf elf;
    const char* sentence;
    bool needsC = false;
    PC_ASSERT_TRUE(self.data && pcElfRead(self.data, self.size, &elf, &sentence) == PC_ELF_OK);
    for (int i = 0; i < elf.neededCount; i++) needsC = needsC || strncmp(elf.needed[i], "libc.so", 7) == 0;
    PC_EXPECT_TRUE(needsC);
    PC_EXPECT_TRUE(elf.dynamic && elf.interpreter != NULL);
    PC_EXPECT_TRUE(pcElfImports(&elf, "fopen"));
    PC_EXPECT_TRUE(!pcElfImports(&elf, "no_such_function"));
    PC_EXPECT_TRUE(pcElfDefines(&elf, "main"));
    PC_EXPECT_TRUE(!pcElfDefines(&elf, "fopen"));
    free(self.data);
}

PC_TEST(Elf, RefusesWhatIsNoProgram)
{
    pcElf elf;
    const char* sentence;
    unsigned char head[sizeof(Elf64_Ehdr)] = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, 1};
    PC_EXPECT_TRUE(pcElfRead((const unsigned char*)"", 0, &elf, &sentence) == PC_ELF_NOT);
    PC_EXPECT_TRUE(pcElfRead((const unsigned char*)"#!/bin/sh\n", 10, &elf, &sentence) == PC_ELF_NOT);
    PC_EXPECT_TRUE(pcElfRead(head, 4, &elf, &sentence) == PC_ELF_BROKEN);
    PC_EXPECT_TRUE(pcElfRead(head, sizeof head, &elf, &sentence) == PC_ELF_FOREIGN);
    head[EI_CLASS] = ELFCLASS64;
    PC_EXPECT_TRUE(pcElfRead(head, 20, &elf, &sentence) == PC_ELF_BROKEN);
    PC_EXPECT_TRUE(pcElfRead(head, sizeof head, &elf, &sentence) == PC_ELF_FOREIGN);
}

/* Every beginning of the file, in an allocation of exactly its size. */
PC_TEST(Elf, SurvivesTruncatedFiles)
{
    Bytes self = readSelf();
    PC_ASSERT_TRUE(self.data && self.size > 4096);
    for (int i = 0; i < 400; i++) {
        size_t size = i < 200 ? (size_t)i * 8 : below(self.size);
        unsigned char* cut = malloc(size + !size);
        PC_ASSERT_TRUE(cut != NULL);
        memcpy(cut, self.data, size);
        PC_EXPECT_TRUE(size > 1600 || readAll(cut, size) != PC_ELF_OK);
        if (size > 1600) readAll(cut, size);
        free(cut);
    }
    free(self.data);
}

/* Where the tables are: what is wrong there matters, what is wrong in the code does not. */
static size_t anInterestingPlace(const Bytes* b)
{
    Elf64_Ehdr head;
    memcpy(&head, b->data, sizeof head);
    size_t dynamic = 0, dynamicSize = 0, hash = 0;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr s;
        memcpy(&s, b->data + head.e_phoff + i * sizeof s, sizeof s);
        if (s.p_type == PT_DYNAMIC) dynamic = s.p_offset, dynamicSize = s.p_filesz;
        if (s.p_type == PT_INTERP) hash = s.p_offset;
    }
    switch (below(5)) {
    case 0: return below(sizeof head);
    case 1: return head.e_phoff + below((size_t)head.e_phnum * head.e_phentsize);
    case 2: return head.e_shoff + below((size_t)head.e_shnum * head.e_shentsize);
    case 3: return dynamic + below(dynamicSize);
    default: return hash + below(4096);
    }
}

PC_TEST(Elf, SurvivesDamagedFiles)
{
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    Bytes self = readSelf();
    PC_ASSERT_TRUE(self.data && self.size > 4096);
    int good = 0;
    for (int i = 0; i < 3000; i++) {
        size_t place[8];
        unsigned char before[8];
        int changes = 1 + (int)below(8);
        for (int k = 0; k < changes; k++) {
            place[k] = k > 0 && below(2) ? place[k - 1] + 1 : anInterestingPlace(&self);
            if (place[k] >= self.size) place[k] = 0;
            before[k] = self.data[place[k]];
        }
        for (int k = 0; k < changes; k++) self.data[place[k]] = below(2) ? values[below(sizeof values)] : (unsigned char)below(256);
        good += readAll(self.data, self.size) == PC_ELF_OK;
        for (int k = changes - 1; k >= 0; k--) self.data[place[k]] = before[k];
    }
    PC_EXPECT_TRUE(good > 0 && good < 3000);
    PC_EXPECT_TRUE(readAll(self.data, self.size) == PC_ELF_OK);
    free(self.data);
}

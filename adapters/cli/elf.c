#include "adapters/cli/elf.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

/* ---- Safe reading ------------------------------------------------------------------------------------------------------------------ */

static bool inside(const pcElf* elf, uint64_t offset, uint64_t length) { return offset <= elf->size && length <= elf->size - offset; }

/* Entries of a file need not be aligned: they are copied out. */
static bool take(const pcElf* elf, uint64_t offset, void* out, size_t length)
{
    if (!inside(elf, offset, length)) return false;
    memcpy(out, elf->bytes + offset, length);
    return true;
}

/* A string that ends before `limit` bytes are over, or NULL. */
static const char* text(const pcElf* elf, uint64_t offset, uint64_t limit)
{
    if (!inside(elf, offset, limit) || !memchr(elf->bytes + offset, 0, limit)) return NULL;
    return (const char*)elf->bytes + offset;
}

/* The names of a table end with a 0 (setSymbols), so every name does. */
static const char* nameIn(const pcElf* elf, const pcElfSymbols* s, uint64_t at)
{
    return at < s->nameSize ? (const char*)elf->bytes + s->names + at : NULL;
}

/* ---- What the program header says --------------------------------------------------------------------------------------------------- */

static bool segment(const pcElf* elf, const Elf64_Ehdr* head, unsigned i, Elf64_Phdr* out)
{
    return head->e_phoff <= elf->size && take(elf, head->e_phoff + (uint64_t)i * sizeof *out, out, sizeof *out);
}

/* The place in the file of an address in memory: false if no segment brings it there. */
static bool offsetOf(const pcElf* elf, const Elf64_Ehdr* head, uint64_t address, uint64_t* offset)
{
    Elf64_Phdr s;
    for (unsigned i = 0; i < head->e_phnum && segment(elf, head, i, &s); i++) {
        if (s.p_type != PT_LOAD || address < s.p_vaddr || address - s.p_vaddr >= s.p_filesz) continue;
        *offset = s.p_offset + (address - s.p_vaddr);
        return *offset >= s.p_offset && *offset < elf->size;
    }
    return false;
}

/* What is needed of the dynamic section: addresses and offsets into its strings, until they are looked up. */
typedef struct Dynamic {
    uint64_t strings, stringSize, symbols, hash, gnuHash, soname, rpath, runpath;
    uint64_t needed[PC_ELF_NEEDED];
    int neededCount;
} Dynamic;

static void takeEntry(Dynamic* d, const Elf64_Dyn* entry)
{
    uint64_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
    case DT_STRTAB: d->strings = value; break;
    case DT_STRSZ: d->stringSize = value; break;
    case DT_SYMTAB: d->symbols = value; break;
    case DT_HASH: d->hash = value; break;
    case DT_GNU_HASH: d->gnuHash = value; break;
    case DT_SONAME: d->soname = value; break;
    case DT_RPATH: d->rpath = value; break;
    case DT_RUNPATH: d->runpath = value; break;
    case DT_NEEDED:
        if (d->neededCount < PC_ELF_NEEDED) d->needed[d->neededCount++] = value;
        break;
    default: break;
    }
}

static bool readDynamic(const pcElf* elf, const Elf64_Phdr* s, Dynamic* d)
{
    if (!inside(elf, s->p_offset, s->p_filesz)) return false;
    for (uint64_t at = 0; s->p_filesz - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        take(elf, s->p_offset + at, &entry, sizeof entry);
        if (entry.d_tag == DT_NULL) return true;
        takeEntry(d, &entry);
    }
    return true;
}

/* ---- How many dynamic symbols there are: only the hash tables know ------------------------------------------------------------------- */

static uint32_t wordAt(const pcElf* elf, uint64_t offset)
{
    uint32_t word = 0;
    take(elf, offset, &word, sizeof word);
    return word;
}

/* Imported symbols come first and are not hashed; the chain of the last bucket ends at the last symbol. */
static uint64_t countByGnuHash(const pcElf* elf, uint64_t hash)
{
    uint32_t buckets = wordAt(elf, hash), first = wordAt(elf, hash + 4), blooms = wordAt(elf, hash + 8), last = 0;
    uint64_t bucketAt = hash + 16 + (uint64_t)blooms * 8, chainAt = bucketAt + (uint64_t)buckets * 4;
    if (!inside(elf, bucketAt, (uint64_t)buckets * 4)) return 0;
    for (uint32_t i = 0; i < buckets; i++) {
        uint32_t symbol = wordAt(elf, bucketAt + (uint64_t)i * 4);
        if (symbol > last) last = symbol;
    }
    if (last < first) return first;
    while (inside(elf, chainAt + (uint64_t)(last - first) * 4, 4)) {
        if (wordAt(elf, chainAt + (uint64_t)(last - first) * 4) & 1) return (uint64_t)last + 1;
        if (++last == 0) return 0;
    }
    return 0;
}

static uint64_t countDynamicSymbols(const pcElf* elf, const Elf64_Ehdr* head, const Dynamic* d)
{
    uint64_t offset;
    if (d->hash && offsetOf(elf, head, d->hash, &offset)) return wordAt(elf, offset + 4);
    if (d->gnuHash && offsetOf(elf, head, d->gnuHash, &offset)) return countByGnuHash(elf, offset);
    return 0;
}

/* Keeps the symbols only if all of them and all their names are in the file; of the names, what an end follows. */
static bool setSymbols(const pcElf* elf, pcElfSymbols* s, uint64_t table, uint64_t count, uint64_t names, uint64_t nameSize)
{
    if (count > elf->size / sizeof(Elf64_Sym)) return false;
    if (!inside(elf, table, count * sizeof(Elf64_Sym)) || !inside(elf, names, nameSize)) return false;
    while (nameSize > 0 && elf->bytes[names + nameSize - 1] != 0) nameSize--;
    *s = (pcElfSymbols){(size_t)table, (size_t)count, (size_t)names, (size_t)nameSize};
    return true;
}

static bool resolveDynamic(pcElf* elf, const Elf64_Ehdr* head, const Dynamic* d)
{
    uint64_t strings = 0, symbols = 0;
    if (!offsetOf(elf, head, d->strings, &strings)) return d->neededCount == 0;
    uint64_t count = d->symbols && offsetOf(elf, head, d->symbols, &symbols) ? countDynamicSymbols(elf, head, d) : 0;
    if (!setSymbols(elf, &elf->dynamicSymbols, symbols, count, strings, d->stringSize)) return false;
    const pcElfSymbols* s = &elf->dynamicSymbols;
    elf->soname = d->soname ? nameIn(elf, s, d->soname) : NULL;
    elf->rpath = d->rpath ? nameIn(elf, s, d->rpath) : NULL;
    elf->runpath = d->runpath ? nameIn(elf, s, d->runpath) : NULL;
    for (int i = 0; i < d->neededCount; i++) {
        elf->needed[elf->neededCount] = nameIn(elf, s, d->needed[i]);
        if (!elf->needed[elf->neededCount++]) return false;
    }
    return true;
}

static const char* readSegments(pcElf* elf, const Elf64_Ehdr* head)
{
    Dynamic dynamic = {0};
    if (head->e_phnum > 0 && head->e_phentsize != sizeof(Elf64_Phdr)) return "its program header has entries of an unknown size";
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr s;
        if (!segment(elf, head, i, &s)) return "its program header is cut off";
        if (s.p_type == PT_LOAD && !inside(elf, s.p_offset, s.p_filesz)) return "a part that would be loaded is cut off";
        if (s.p_type == PT_INTERP && !(elf->interpreter = text(elf, s.p_offset, s.p_filesz))) return "the name of its loader is cut off";
        if (s.p_type != PT_DYNAMIC) continue;
        elf->dynamic = true;
        if (!readDynamic(elf, &s, &dynamic)) return "its dynamic section is cut off";
    }
    return elf->dynamic && !resolveDynamic(elf, head, &dynamic) ? "its dynamic section points outside of the file" : NULL;
}

/* The symbols for debuggers, if they were not stripped: the only place where a static library still has names. A damaged one is none. */
static void readStaticSymbols(pcElf* elf, const Elf64_Ehdr* head)
{
    if (head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shoff == 0 || head->e_shoff > elf->size) return;
    for (unsigned i = 0; i < head->e_shnum; i++) {
        Elf64_Shdr s, names;
        if (!take(elf, head->e_shoff + (uint64_t)i * sizeof s, &s, sizeof s)) return;
        if (s.sh_type != SHT_SYMTAB || s.sh_link >= head->e_shnum) continue;
        if (!take(elf, head->e_shoff + (uint64_t)s.sh_link * sizeof names, &names, sizeof names)) return;
        setSymbols(elf, &elf->staticSymbols, s.sh_offset, s.sh_size / sizeof(Elf64_Sym), names.sh_offset, names.sh_size);
        return;
    }
}

/* ---- Front ------------------------------------------------------------------------------------------------------------------------- */

static uint16_t machineOfThisProgram(void)
{
#if defined(__x86_64__)
    return EM_X86_64;
#elif defined(__aarch64__)
    return EM_AARCH64;
#elif defined(__riscv)
    return EM_RISCV;
#elif defined(__powerpc64__)
    return EM_PPC64;
#elif defined(__s390x__)
    return EM_S390;
#else
    return EM_NONE;
#endif
}

static unsigned char orderOfThisProgram(void)
{
    const uint16_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    return low ? ELFDATA2LSB : ELFDATA2MSB;
}

pcElfKind pcElfRead(const unsigned char* bytes, size_t size, pcElf* elf, const char** sentence)
{
    *elf = (pcElf){.bytes = bytes, .size = size};
    *sentence = "it is no ELF file";
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0) return PC_ELF_NOT;
    *sentence = "its ELF header is cut off";
    if (size < EI_NIDENT) return PC_ELF_BROKEN;
    *sentence = "it is a program of 32 bits or of another machine";
    if (bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != orderOfThisProgram()) return PC_ELF_FOREIGN;
    Elf64_Ehdr head;
    *sentence = "its ELF header is cut off";
    if (!take(elf, 0, &head, sizeof head)) return PC_ELF_BROKEN;
    *sentence = "it is a program of another machine";
    if (head.e_machine != machineOfThisProgram()) return PC_ELF_FOREIGN;
    *sentence = "it is neither a program nor a shared library";
    if (head.e_type != ET_EXEC && head.e_type != ET_DYN) return PC_ELF_BROKEN;
    const char* wrong = readSegments(elf, &head);
    if (wrong) *sentence = wrong;
    if (wrong) return PC_ELF_BROKEN;
    readStaticSymbols(elf, &head);
    *sentence = "";
    return PC_ELF_OK;
}

void pcElfEachSymbol(const pcElf* elf, const pcElfSymbols* symbols, pcElfVisit* visit, void* context)
{
    for (size_t i = 0; i < symbols->count; i++) {
        Elf64_Sym symbol;
        if (!take(elf, symbols->table + i * sizeof symbol, &symbol, sizeof symbol)) return;
        int type = ELF64_ST_TYPE(symbol.st_info);
        if (type != STT_FUNC && type != STT_NOTYPE) continue;
        const char* name = nameIn(elf, symbols, symbol.st_name);
        if (name && name[0] && !visit(context, name, symbol.st_shndx != SHN_UNDEF)) return;
    }
}

typedef struct Wanted {
    const char* name;
    bool defined, found;
} Wanted;

static bool compareWanted(void* context, const char* name, bool defined)
{
    Wanted* w = context;
    w->found = defined == w->defined && strcmp(name, w->name) == 0;
    return !w->found;
}

bool pcElfDefines(const pcElf* elf, const char* name)
{
    Wanted w = {name, true, false};
    pcElfEachSymbol(elf, &elf->dynamicSymbols, compareWanted, &w);
    if (!w.found) pcElfEachSymbol(elf, &elf->staticSymbols, compareWanted, &w);
    return w.found;
}

bool pcElfImports(const pcElf* elf, const char* name)
{
    Wanted w = {name, false, false};
    pcElfEachSymbol(elf, &elf->dynamicSymbols, compareWanted, &w);
    return w.found;
}

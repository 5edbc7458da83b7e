#define _GNU_SOURCE /* dladdr, dl_iterate_phdr, RTLD_DEFAULT */

#include "adapters/ode/native.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"

/* A name that no header declares: no program has an entry of its own for it, so its address lies in ODE itself. */
static const char* const PRIVATE_NAME = "_Z10dxStepBodyP6dxBodyd";

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void* library;
static pcNative native;
static bool complete;
static const char* lacking; /* a name of ODE's that we use and that is not there */

static void* openLibrary(void)
{
    Dl_info place;
    void* inside = dlsym(RTLD_DEFAULT, PRIVATE_NAME);
    if (!inside || !dladdr(inside, &place)) return NULL;
    return dlopen(place.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
}

int pcNativeSymbol(const char* name, void* function)
{
    void* address = library ? dlsym(library, name) : NULL;
    if (address) memcpy(function, &address, sizeof address);
    return address != NULL;
}

/* ---- what we need: ODE's names are weak in this library (ODE_API), so that one that lacks some does not end the program that loads both ---- */

/* The dynamic section of the library, or program, that this code is in. */
static int findOwn(struct dl_phdr_info* object, size_t size, void* out)
{
    const ElfW(Dyn)* dynamic = NULL;
    uintptr_t here = (uintptr_t)&complete, base = object->dlpi_addr;
    bool own = false;
    (void)size;
    for (const ElfW(Phdr)* part = object->dlpi_phdr; part < object->dlpi_phdr + object->dlpi_phnum; part++) {
        if (part->p_type == PT_LOAD) own |= here - base - part->p_vaddr < part->p_memsz;
        if (part->p_type == PT_DYNAMIC) dynamic = (const void*)(base + part->p_vaddr);
    }
    if (own) *(const ElfW(Dyn)**)out = dynamic;
    return own;
}

static const void* tableOf(const ElfW(Dyn) * dynamic, ElfW(Sxword) tag)
{
    while (dynamic->d_tag != DT_NULL && dynamic->d_tag != tag) dynamic++;
    return dynamic->d_tag == tag ? (const void*)dynamic->d_un.d_ptr : NULL;
}

/* Names that are not defined here come first among the symbols, before those of the hash table, which says where it begins. */
static const char* findLacking(void)
{
    const ElfW(Dyn)* own = NULL;
    dl_iterate_phdr(findOwn, &own);
    const uint32_t* hash = own ? tableOf(own, DT_GNU_HASH) : NULL;
    const ElfW(Sym)* symbol = hash ? tableOf(own, DT_SYMTAB) : NULL;
    const char* names = hash ? tableOf(own, DT_STRTAB) : NULL;
    for (uint32_t i = 1; hash && i < hash[1]; i++) {
        const char* name = names + symbol[i].st_name;
        if (symbol[i].st_shndx == SHN_UNDEF && name[0] == 'd' && isupper((unsigned char)name[1]) && !dlsym(library, name)) return name;
    }
    return NULL;
}

static void find(void)
{
    library = openLibrary();
    complete = pcNativeSymbol("dWorldStep", &native.worldStep) && pcNativeSymbol("dWorldQuickStep", &native.worldQuickStep) &&
               pcNativeSymbol("dCollide", &native.collide) && pcNativeSymbol("dWorldDestroy", &native.worldDestroy) &&
               pcNativeSymbol("dBodyDestroy", &native.bodyDestroy) && pcNativeSymbol("dJointDestroy", &native.jointDestroy) &&
               pcNativeSymbol("dGeomDestroy", &native.geomDestroy) && pcNativeSymbol("dCloseODE", &native.closeOde);
    lacking = complete ? findLacking() : NULL;
}

const pcNative* pcNativeOde(void)
{
    pthread_once(&once, find);
    if (complete && !lacking) return &native;
    if (lacking) {
        pcFail(PC_ERROR_UNSUPPORTED, "this build of ODE lacks %s, which is needed", lacking);
        return NULL;
    }
    pcFail(PC_ERROR_UNSUPPORTED, "the functions of ODE's shared library were not found: it is another build, or linked statically");
    return NULL;
}

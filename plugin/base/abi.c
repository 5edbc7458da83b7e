#include "base/abi.h"

#include <stddef.h>

#include "base/status.h"

static const pcAbiStruct* find(const pcAbiStruct* known, int knownCount, int number)
{
    for (int i = 0; i < knownCount; i++)
        if (known[i].size.number == number) return known + i;
    return NULL;
}

pcStatus pcAbiCompareWith(const pcAbiStruct* known, int knownCount, const pcAbiSize* sizes, int count)
{
    if (!sizes || count < 0) return pcFail(PC_ERROR_ARGUMENT, "pcAbiCompare needs the sizes of structs");
    for (int i = 0; i < count; i++) {
        const pcAbiStruct* own = find(known, knownCount, sizes[i].number);
        if (!own)
            return pcFail(PC_ERROR_UNSUPPORTED,
                          "the program was compiled for a newer pcontact: this one, " PC_VERSION_TEXT ", has no struct %d",
                          sizes[i].number);
        if (own->size.bytes != sizes[i].bytes)
            return pcFail(PC_ERROR_UNSUPPORTED,
                          "the program was compiled for another pcontact: its %s has %d bytes, that of " PC_VERSION_TEXT " %d", own->name,
                          sizes[i].bytes, own->size.bytes);
    }
    return PC_OK;
}

pcStatus pcAbiCompare(const pcAbiSize* sizes, int count)
{
    static const pcAbiStruct known[] = {PC_ABI_STRUCTS(PC_ABI_STRUCT_)};
    return pcAbiCompareWith(known, (int)(sizeof known / sizeof *known), sizes, count);
}

/* One line for a struct, followed by one for each of its fields; the last has no name. */
#ifndef PC_ABI_LAYOUT_H
#define PC_ABI_LAYOUT_H

#include <stddef.h>

typedef struct Layout {
    const char *type, *field; /* "": the struct itself */
    size_t offset, size, alignment;
} Layout;

extern const Layout layoutNow[], layoutBefore[];

#endif

#include "test_worlds/unit/refusals.h"

#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/counting.h"

bool pcWentWell(pcStatus status)
{
    if (status == PC_OK) return true;
    PC_EXPECT_STATUS(PC_ERROR_MEMORY, status);
    if (!strstr(pcLastError(), "memory")) PC_FAIL("out of memory, and it says: %s", pcLastError());
    return false;
}

static int refuseEachInTurn(bool (*run)(void), bool onwards)
{
    long refused = 1;
    int n = 0;
    PC_EXPECT_TRUE(run()); /* what is made once for all is made */
    while (refused > 0 && n < 20000) {
        PC_CASE("block %d%s", ++n, onwards ? " and all that follow" : "");
        long before = allocationsHeld();
        pcAllocationsRefuse(n, onwards);
        bool well = run();
        refused = pcAllocationsAllow();
        PC_EXPECT_EQ_INT(0, allocationsHeld() - before);
        if (refused == 0) PC_EXPECT_TRUE(well);
        if (allocationsHeld() != before) return n;
    }
    return n;
}

void pcRefuseAll(bool (*run)(void), int least)
{
    int blocks = refuseEachInTurn(run, false);
    PC_EXPECT_GT(blocks, least);
    refuseEachInTurn(run, true);
}

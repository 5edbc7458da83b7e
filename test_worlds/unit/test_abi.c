/* What the library says to programs that were compiled with other headers. */
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/abi.h"

PC_TEST(Abi, ProgramsOfTheseHeadersAreServed) { PC_EXPECT_STATUS(PC_OK, pcAbiCheck()); }

PC_TEST(Abi, AnotherSizeIsRefusedByName)
{
    const pcAbiSize wider = {14, (int)sizeof(pcSettings) + 8};
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcAbiCompare(&wider, 1));
    PC_EXPECT_TRUE(strstr(pcLastError(), "its pcSettings has") != NULL);
}

PC_TEST(Abi, AStructThatThereIsNotYetIsRefused)
{
    const pcAbiSize unknown = {999, 8};
    PC_EXPECT_STATUS(PC_ERROR_UNSUPPORTED, pcAbiCompare(&unknown, 1));
    PC_EXPECT_TRUE(strstr(pcLastError(), "newer") != NULL);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcAbiCompare(NULL, 1));
    PC_EXPECT_STATUS(PC_OK, pcAbiCompare(&unknown, 0));
}

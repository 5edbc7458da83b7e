/* Inputs of a corpus, one after the other, without a fuzzer: fuzz_NAME FILE|FOLDER... */
#include <dirent.h>

#include "test_worlds/fuzz/targets/target.h"

static int runs;

static void runFile(const char* name)
{
    static uint8_t data[1 << 16];
    FILE* file = fopen(name, "rb");
    REQUIRE(file, "%s cannot be read", name);
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    uint8_t* exact = malloc(size + (size == 0)); /* so that a sanitizer sees its end */
    REQUIRE(exact, "out of memory");
    memcpy(exact, data, size);
    for (int k = 0; k < 2; k++) thorough = k == 1, LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    runs++;
}

int main(int count, char** words)
{
    for (int i = 1; i < count; i++) {
        DIR* folder = opendir(words[i]);
        if (!folder) runFile(words[i]);
        for (struct dirent* entry; folder && (entry = readdir(folder)) != NULL;) {
            char name[4096];
            if (entry->d_name[0] == '.') continue;
            snprintf(name, sizeof name, "%s/%s", words[i], entry->d_name);
            runFile(name);
        }
        if (folder) closedir(folder);
    }
    printf("%d inputs\n", runs);
    return runs == 0;
}

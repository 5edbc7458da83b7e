/*
 * Damaged world files, as many as wanted: sdf_fuzz [RUNS [SEED]]; 3,000 among the tests of ctest, 20,000 by `make fuzz`, which takes other
 * numbers from FUZZ_SDF. A file that ends the program stays where the first line says.
 */
#include <stdio.h>
#include <stdlib.h>

#include "test_worlds/fuzz/sdf_mutate.h"

int main(int count, char** words)
{
    int runs = count > 1 ? atoi(words[1]) : 20000;
    unsigned long long seed = count > 2 ? strtoull(words[2], NULL, 10) : 1;
    SdfMutation mutation = sdfMutationBegin(PCONTACT_TEST_WORLDS, seed);
    printf("%d seed files; the damaged one is %s\n", mutation.seeds, mutation.file);
    fflush(stdout);
    for (int i = 0; i < runs; i++) {
        sdfMutationRun(&mutation);
        if (i % 1000 == 999) printf("%d files: %d read, %d refused\n", i + 1, mutation.read, mutation.refused);
    }
    printf("%d files: %d read, %d refused, %d steps; %d refusals without a sentence\n", mutation.runs, mutation.read, mutation.refused,
           mutation.stepped, mutation.badSentences);
    sdfMutationEnd(&mutation);
    return mutation.badSentences > 0 || mutation.runs != runs;
}

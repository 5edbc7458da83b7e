/* Damaged world files, as many as wanted: sdf_fuzz [RUNS [SEED]]. Meant to run under the sanitizers. */
#include <stdio.h>
#include <stdlib.h>

#include "test_worlds/fuzz/sdf_mutate.h"

int main(int count, char** words)
{
    int runs = count > 1 ? atoi(words[1]) : 20000;
    unsigned long long seed = count > 2 ? strtoull(words[2], NULL, 10) : 1;
    SdfMutation mutation = sdfMutationBegin(PCONTACT_TEST_WORLDS "/peers", seed);
    for (int i = 0; i < runs; i++) {
        sdfMutationRun(&mutation);
        if (i % 1000 == 999) printf("%d files: %d read, %d refused\n", i + 1, mutation.read, mutation.refused);
    }
    printf("%d files: %d read, %d refused, %d steps; %d refusals without a sentence\n", mutation.runs, mutation.read, mutation.refused,
           mutation.stepped, mutation.badSentences);
    sdfMutationEnd(&mutation);
    return mutation.badSentences > 0 || mutation.runs != runs;
}

/* Where world files are: a path, or the name of one that comes with the program. */
#ifndef PC_CLI_WORLDS_H
#define PC_CLI_WORLDS_H

enum { PC_CLI_PATH = 4096 }; /* room for the name of a file */

/* 0 and the path, or an exit code after one sentence. */
int pcCliFindWorld(const char* world, char path[PC_CLI_PATH]);

/* The names of the worlds of the papers and of others, one line each. */
void pcCliListWorlds(void);

#endif

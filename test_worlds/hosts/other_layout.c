/* Stands before ODE and makes it look like a build whose objects cannot be measured: nobody learns what it allocates. */
void dSetAllocHandler(void* function);
void dSetAllocHandler(void* function) { (void)function; }

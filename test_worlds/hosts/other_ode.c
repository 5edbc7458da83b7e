/* Stands before ODE and makes it look like a build of which we know nothing: a private name of it is found here, and nothing else. */
void _Z10dxStepBodyP6dxBodyd(void* body, double h);
void _Z10dxStepBodyP6dxBodyd(void* body, double h) { (void)body, (void)h; }

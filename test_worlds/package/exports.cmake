# The shared library exports exactly the functions that the public headers declare, and the one behind which the preload library finds its
# hooks: nothing private leaks, nothing promised is missing.
cmake_minimum_required(VERSION 3.18)
include(${CMAKE_CURRENT_LIST_DIR}/../../adapters/package/declared.cmake)

string(REPLACE "," ";" headers "${HEADERS}")
pcontact_declared_functions(declared ${headers} ${HOOKS})

execute_process(COMMAND ${NM} --dynamic --defined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "PCONTACT_[0-9.]+ A [^\n]*\n" "" table "${table}") # the symbol version itself
string(REGEX REPLACE "@@PCONTACT_0\\.1 " " " table "${table}")             # which every function must have
string(REGEX REPLACE " [^\n]*\n" ";" exported "${table}")

set(private ${exported})
set(missing ${declared})
list(REMOVE_ITEM private ${declared})
list(REMOVE_ITEM missing ${exported})
if(private OR missing)
    message(FATAL_ERROR "exported but not declared: ${private}\ndeclared but not exported: ${missing}")
endif()
list(LENGTH declared count)
message("${count} functions declared and exported")

# Installs into a folder of its own, then builds and runs a consumer of the installation: once by pkg-config, once by find_package. An ODE
# program that is no consumer runs under the installed tool.
cmake_minimum_required(VERSION 3.18)
set(work ${BUILD}/package_test)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT code EQUAL 0)
        string(REPLACE ";" " " command "${ARGN}")
        message(FATAL_ERROR "This failed (${code}): ${command}\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

# The program is the one that the README shows, so that what a reader copies is what is tested.
file(READ ${README} readme)
string(FIND "${readme}" "```c\n" begin)
string(SUBSTRING "${readme}" ${begin} -1 program)
string(SUBSTRING "${program}" 5 -1 program)
string(FIND "${program}" "\n```" end)
string(SUBSTRING "${program}" 0 ${end} program)
file(WRITE ${work}/consumer/consumer.c "${program}\n")
configure_file(${CONSUMER}/CMakeLists.txt ${work}/consumer/CMakeLists.txt COPYONLY)

# Its output: the four lower corners of the box, 0.01 above the floor.
function(check_output)
    string(REGEX MATCHALL "gap 0\\.01 at \\(-?0\\.5, -?0\\.5, 0\\.01\\)" corners "${output}")
    list(REMOVE_DUPLICATES corners)
    list(LENGTH corners count)
    if(NOT count EQUAL 4)
        message(FATAL_ERROR "The README's program printed\n${output}instead of four corners.")
    endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
run(${PKG_CONFIG} --cflags --libs pcontact)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${CC} ${work}/consumer/consumer.c -o ${work}/by_pkg_config ${flags} -Wl,-rpath,${prefix}/${LIBDIR})
run(${work}/by_pkg_config)
check_output()
message("by pkg-config: ${output}")

run(${CMAKE_COMMAND} -S ${work}/consumer -B ${work}/by_cmake -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_C_COMPILER=${CC})
run(${CMAKE_COMMAND} --build ${work}/by_cmake)
run(${work}/by_cmake/consumer)
check_output()
message("by find_package: ${output}")

# The installed tool finds the installed preload library, and that one the library beside it.
if(FALLING)
    run(${prefix}/${BINDIR}/pcontact exec --verbose -- ${FALLING})
    if(NOT output MATCHES "pcontact: 200 steps, 0 of them native")
        message(FATAL_ERROR "Under the installed tool, the program printed\n${output}")
    endif()
    message("by exec: ${output}")
endif()

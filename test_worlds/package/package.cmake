# Installs into a folder of its own, then builds and runs a consumer of the installation: once by pkg-config, once by find_package.
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

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
run(${PKG_CONFIG} --cflags --libs pcontact)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${CC} ${CONSUMER}/consumer.c -o ${work}/by_pkg_config ${flags} -Wl,-rpath,${prefix}/${LIBDIR})
run(${work}/by_pkg_config)
message("by pkg-config: ${output}")

run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${work}/by_cmake -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_C_COMPILER=${CC})
run(${CMAKE_COMMAND} --build ${work}/by_cmake)
run(${work}/by_cmake/consumer)
message("by find_package: ${output}")

# What the preload library costs a program whose worlds are native: instructions of a step, counted by valgrind, at most 2 % more than without.
# Loading the library is paid once and is taken out: each count is that of many steps minus that of none.
cmake_minimum_required(VERSION 3.18)
if(NOT VALGRIND)
    message("skipped: the cost of native steps: valgrind is not installed")
    return()
endif()

function(instructions out steps)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env ${ARGN}
            ${VALGRIND} --tool=callgrind --callgrind-out-file=/dev/null ${FALLING} ${options} --steps ${steps}
        RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE err)
    if(NOT code EQUAL 0 OR NOT err MATCHES "Collected : ([0-9]+)")
        message(FATAL_ERROR "valgrind failed: ${err}")
    endif()
    set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

# A body without contact is the cheapest step there is, and so the hardest case.
foreach(options "--boxes;1;--spread" "--boxes;8;--spread" "--boxes;1;--spread;--quick" "--boxes;0")
    instructions(alone_none 0)
    instructions(alone 500)
    set(with PCONTACT=model=native LD_PRELOAD=${PRELOAD})
    instructions(preloaded_none 0 ${with})
    instructions(preloaded 500 ${with})
    math(EXPR native "(${alone} - ${alone_none}) / 500")
    math(EXPR ours "(${preloaded} - ${preloaded_none}) / 500")
    math(EXPR percent100 "(${ours} - ${native}) * 10000 / ${native}")
    math(EXPR start "(${preloaded_none} - ${alone_none}) / 1000000")
    string(REPLACE ";" " " shown "${options}")
    message("${shown}: ${native} instructions per step natively, ${ours} with the library in between: ${percent100} / 100 % more; ${start} million once, for loading")
    if(percent100 GREATER 200 AND NOT options STREQUAL "--boxes;0")
        message(SEND_ERROR "More than 2 %.")
    endif()
endforeach()

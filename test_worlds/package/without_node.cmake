# A build without Node.js, or without npm: it is configured all the same, and one line says that there are no pages and how to get them.
cmake_minimum_required(VERSION 3.18)

foreach(missing NODE_PROGRAM NPM_PROGRAM)
    file(REMOVE_RECURSE ${WORK})
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -D ${missing}=OFF RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
    if(NOT code EQUAL 0)
        message(SEND_ERROR "Without ${missing} it cannot be configured: ${err}")
    endif()
    if(NOT out MATCHES "-- Reports \\(--report FILE.html\\): off, [^\n]*; install nodejs and npm and configure again\n")
        message(SEND_ERROR "Without ${missing} it does not say that there are no reports, and how to get them:\n${out}")
    endif()
    # Nor may a bundle of earlier days slip in.
    if(EXISTS ${WORK}/report)
        message(SEND_ERROR "Without ${missing} pages were bundled.")
    endif()
endforeach()

# Bundles the page's script into ${PROJECT_BINARY_DIR}/report and gives it to pcontact_report; or says in one line why there is none.
find_program(NODE_PROGRAM node)
find_program(NPM_PROGRAM npm)
set(web ${CMAKE_CURRENT_LIST_DIR})
set(web_build ${PROJECT_BINARY_DIR}/report)

# The packages that the lock file pins, fetched once for each lock file.
function(fetch_packages result)
    file(SHA256 ${web}/package-lock.json wanted)
    set(stamp ${web_build}/node_modules/.pcontact)
    set(have "")
    if(EXISTS ${stamp})
        file(READ ${stamp} have)
    endif()
    if(NOT have STREQUAL wanted)
        file(COPY ${web}/package.json ${web}/package-lock.json DESTINATION ${web_build})
        execute_process(COMMAND ${NPM_PROGRAM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
            WORKING_DIRECTORY ${web_build} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        if(failed)
            set(${result} OFF PARENT_SCOPE)
            return()
        endif()
        file(WRITE ${stamp} ${wanted})
    endif()
    set(${result} ON PARENT_SCOPE)
endfunction()

set(have_packages OFF)
if(NODE_PROGRAM AND NPM_PROGRAM)
    fetch_packages(have_packages)
endif()

if(have_packages)
    set(web_sources build.mjs src/main.js src/data.js src/colours.js src/shapes.js src/bodies.js src/contacts.js src/stage.js src/plots.js src/figures.js src/style.css)
    list(TRANSFORM web_sources PREPEND ${web}/ OUTPUT_VARIABLE web_files)
    add_custom_command(OUTPUT ${web_build}/report.js ${web_build}/report.css
        COMMAND ${CMAKE_COMMAND} -E copy ${web}/build.mjs ${web_build}/build.mjs
        COMMAND ${CMAKE_COMMAND} -E copy_directory ${web}/src ${web_build}/src
        COMMAND ${NODE_PROGRAM} build.mjs ${web_build}
        WORKING_DIRECTORY ${web_build} DEPENDS ${web_files} ${web}/package-lock.json VERBATIM COMMENT "Bundling the page's script")
    set_source_files_properties(adapters/report/asset.c TARGET_DIRECTORY pcontact_report PROPERTIES
        COMPILE_DEFINITIONS "PCONTACT_REPORT_FOLDER=\"${web_build}\"" OBJECT_DEPENDS "${web_build}/report.js;${web_build}/report.css")
    message(STATUS "Reports (--report FILE.html): on")
elseif(NODE_PROGRAM AND NPM_PROGRAM)
    message(STATUS "Reports (--report FILE.html): off, npm could not fetch what they are made with; configure again with its registry in reach")
else()
    message(STATUS "Reports (--report FILE.html): off, there is no Node.js; install nodejs and npm and configure again")
endif()

# Counts the PC_TEST lines of the test sources and writes the number as C, for the shim to compare with what really ran.
#   cmake -D OUTPUT=file.c -D SOURCES=a.c,b.c -P count_tests.cmake
cmake_minimum_required(VERSION 3.18)
string(REPLACE "," ";" sources "${SOURCES}")
set(count 0)
foreach(source IN LISTS sources)
    file(STRINGS "${source}" tests REGEX "^PC_TEST\\(")
    list(LENGTH tests here)
    math(EXPR count "${count} + ${here}")
endforeach()
file(WRITE "${OUTPUT}" "extern const int pcTestDeclared;\nconst int pcTestDeclared = ${count};\n")

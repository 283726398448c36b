# Warnings, floating-point rules, hardening and sanitizers, as the interface target talus_flags.
add_library(talus_flags INTERFACE)

# No contraction into fused multiply-adds: the same bits are promised for every vector width.
# Without errno sqrt() is one instruction; its value is the same.
target_compile_options(talus_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -ffp-contract=off -fno-math-errno)
if(TALUS_WERROR)
  target_compile_options(talus_flags INTERFACE -Werror)
endif()

set(TALUS_SANITIZE_FLAGS "")
set(TALUS_SANITIZE_ENVIRONMENT "")
if(TALUS_SANITIZE STREQUAL "address+undefined")
  set(TALUS_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=all)
  # Allocations too big to succeed return NULL as they do in a normal run: tests ask for them.
  set(TALUS_SANITIZE_ENVIRONMENT
    ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1
    LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/leaks.txt:print_suppressions=0
    UBSAN_OPTIONS=print_stacktrace=1)
  execute_process(
    COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so
    OUTPUT_VARIABLE TALUS_SANITIZE_PRELOAD OUTPUT_STRIP_TRAILING_WHITESPACE)
elseif(TALUS_SANITIZE STREQUAL "thread")
  # ThreadSanitizer sees OpenMP's own synchronisation only through Archer, a plug-in of LLVM's
  # OpenMP runtime. With gcc's libgomp every barrier would be reported as a race.
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TALUS_SANITIZE=thread needs clang (use the preset `tsan`)")
  endif()
  execute_process(
    COMMAND ${CMAKE_C_COMPILER} -print-resource-dir
    OUTPUT_VARIABLE resource_dir OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  find_file(TALUS_ARCHER libarcher.so PATHS ${resource_dir}/../.. NO_DEFAULT_PATH)
  if(NOT TALUS_ARCHER)
    message(FATAL_ERROR "libarcher.so not found next to clang; run scripts/install-deps.sh ci")
  endif()
  get_filename_component(archer ${TALUS_ARCHER} REALPATH)
  set(TALUS_SANITIZE_FLAGS -fsanitize=thread)
  set(TALUS_SANITIZE_ENVIRONMENT
    OMP_TOOL_LIBRARIES=${archer}
    "TSAN_OPTIONS=ignore_noninstrumented_modules=1 halt_on_error=1")
elseif(TALUS_SANITIZE)
  message(FATAL_ERROR "TALUS_SANITIZE is '${TALUS_SANITIZE}'; expected address+undefined or thread")
endif()
# What makes a mistake of memory end the program before somebody can make use of it (SECURITY.md).
# No bit of a result depends on it; docs/performance-internals.md has what it costs. Sanitizers see
# more, and do not go with the checks of FORTIFY, which need an optimising compiler.
option(TALUS_HARDEN "Stack protector, checked calls of the C library, read-only relocations" ON)
add_library(talus_hardening INTERFACE) # alone for code that is not held to the warnings
if(TALUS_HARDEN AND NOT TALUS_SANITIZE)
  target_compile_options(talus_hardening INTERFACE -fstack-protector-strong
    $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
  target_link_options(talus_hardening INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
target_link_libraries(talus_flags INTERFACE talus_hardening)

# libFuzzer counts which ways inputs take (cmake/Fuzz.cmake).
if(TALUS_FUZZ)
  list(APPEND TALUS_SANITIZE_FLAGS -fsanitize=fuzzer-no-link)
endif()
if(TALUS_SANITIZE_FLAGS)
  # -O1 keeps stack traces readable and overrides the -O3 of the release flags; -O2 would compile
  # more than twice as long and run a quarter faster. -g1: lines are enough, and link quickly.
  target_compile_options(talus_flags INTERFACE
    ${TALUS_SANITIZE_FLAGS} -O1 -g1 -fno-omit-frame-pointer)
  target_link_options(talus_flags INTERFACE ${TALUS_SANITIZE_FLAGS})
endif()

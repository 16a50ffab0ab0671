# find_package(component_benchmark) from an install tree, and from the build tree (component_benchmark_DIR=<build>).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_folder "${CMAKE_INSTALL_DATADIR}/cmake/component_benchmark")

install(DIRECTORY include/component_benchmark TYPE INCLUDE)
install(TARGETS component_benchmark EXPORT component_benchmark INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT component_benchmark FILE component_benchmarkTargets.cmake NAMESPACE component_benchmark::
        DESTINATION "${package_folder}")
# Two of them: the headers stand elsewhere in the build tree.
set(include_folder "${CMAKE_INSTALL_INCLUDEDIR}")
configure_package_config_file(
    cmake/component_benchmarkConfig.cmake.in installed/component_benchmarkConfig.cmake
    INSTALL_DESTINATION "${package_folder}" PATH_VARS include_folder)
set(include_folder include)
configure_package_config_file(
    cmake/component_benchmarkConfig.cmake.in component_benchmarkConfig.cmake
    INSTALL_DESTINATION "${CMAKE_CURRENT_BINARY_DIR}" INSTALL_PREFIX "${PROJECT_SOURCE_DIR}"
    PATH_VARS include_folder)
write_basic_package_version_file(component_benchmarkConfigVersion.cmake COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
set(package_modules Dependencies Instrument LibTorch LibTorchRoot TorchTarget)
list(TRANSFORM package_modules REPLACE "(.+)" "cmake/ComponentBenchmark\\1.cmake")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/installed/component_benchmarkConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/component_benchmarkConfigVersion.cmake" ${package_modules}
        DESTINATION "${package_folder}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

export(EXPORT component_benchmark FILE "${CMAKE_CURRENT_BINARY_DIR}/component_benchmarkTargets.cmake"
       NAMESPACE component_benchmark::)
foreach(module IN LISTS package_modules)
    cmake_path(GET module FILENAME name)
    configure_file(${module} ${name} COPYONLY)
endforeach()

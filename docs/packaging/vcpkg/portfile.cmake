# An overlay port: installs the checkout that it stands in. LibTorch is the project's own, found by find_package.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DCOMPONENT_BENCHMARK_WITH_LIBTORCH=OFF
        -DCOMPONENT_BENCHMARK_TESTS=OFF
        -DCOMPONENT_BENCHMARK_EXAMPLES=OFF
        -DCOMPONENT_BENCHMARK_BENCH=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/component_benchmark PACKAGE_NAME component_benchmark)

# Headers only: nothing differs between configurations.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")

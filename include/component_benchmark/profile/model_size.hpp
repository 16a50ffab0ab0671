// component -> PROFILE: parameters and buffers
#pragma once

#include <component_benchmark/core/metric.hpp>

#include <boost/hana/define_struct.hpp>

#include <cstdint>

namespace component_benchmark {

/// How large a component is: what it registers itself and what its children register. A tensor that
/// is registered several times is counted once.
struct model_size {
    static constexpr char const* name = "model_size";
    static constexpr bool backward = false;

    // A template, so that a file which does not use it does not pay for its description.
    template<class>
    struct described {
        BOOST_HANA_DEFINE_STRUCT(described, (metric<count>, params),  ///< elements of parameters
                                 (metric<count>, buffers),            ///< elements of buffers
                                 (metric<megabytes>, model_size_mb)   ///< bytes of both
        );
    };
    using result = described<void>;

    template<class Component>
    [[nodiscard]] result profile(Component& component) const {
        std::int64_t parameters = 0;
        std::int64_t buffers = 0;
        double bytes = 0.0;
        for (auto const& tensor : component.parameters()) {
            parameters += tensor.numel();
            bytes += bytes_of(tensor);
        }
        for (auto const& tensor : component.buffers()) {
            buffers += tensor.numel();
            bytes += bytes_of(tensor);
        }
        return {parameters, buffers, bytes / 1e6};
    }

private:
    // A sparse tensor has indices and values, and no size in bytes of its own.
    template<class Tensor>
    [[nodiscard]] static double bytes_of(Tensor const& tensor) {
        if constexpr (requires { tensor._values(), tensor.crow_indices(); }) {
            if (tensor.is_sparse())
                return bytes_of(tensor._indices()) + bytes_of(tensor._values());
            if (tensor.is_sparse_csr())
                return bytes_of(tensor.crow_indices()) + bytes_of(tensor.col_indices()) +
                       bytes_of(tensor.values());
        }
        return static_cast<double>(tensor.nbytes());
    }
};

}  // namespace component_benchmark

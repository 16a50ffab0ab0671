// A preprocessor, a profiler and a sink of your own: plain structs, no base class, no registration.
#include <component_benchmark/component_benchmark.hpp>
#include <component_benchmark/concepts.hpp>
#include <component_benchmark/result/columns.hpp>
#include <component_benchmark/result/document.hpp>

#include <boost/hana/define_struct.hpp>

#include <torch/torch.h>

#include <cstdio>
#include <string>

namespace cb = component_benchmark;

// A profiler: what the outputs of one call take in memory. It finds its numbers through the
// component's calls; a call is made again with prepare() and forward().
struct output_size {
    static constexpr char const* name = "output_size";
    struct result {
        BOOST_HANA_DEFINE_STRUCT(result,
                                 (cb::metric<cb::megabytes, cb::aggregate::maximum>, output_mb));
    };
    template<class Component>
    result profile(Component& component) const {
        if (component.calls().empty())
            return cb::unavailable_result<output_size>(component.why_no_calls());
        auto replay = component.calls().front().replay();
        replay.prepare();
        replay.forward();
        double bytes = 0.0;
        for (auto const& output : replay.outputs())
            bytes += static_cast<double>(output.nbytes());
        return {bytes / 1e6};
    }
};

// A profiler that builds on another one: its result comes as a further argument.
struct output_rate {
    static constexpr char const* name = "output_rate";
    using needs = cb::needs<cb::latency, output_size>;
    struct gigabytes_per_second {
        using value_type = double;
        static constexpr std::string_view symbol = "GB/s";
        static constexpr auto kind = cb::unit_kind::rate;
        static constexpr auto direction = cb::better::higher;
    };
    struct result {
        BOOST_HANA_DEFINE_STRUCT(result, (cb::metric<gigabytes_per_second>, output_gbps));
    };
    template<class Component>
    result profile(Component&, cb::latency::result const& latency,
                   output_size::result const& size) const {
        return {{size.output_mb.value() / latency.latency_ms.value(), cb::origin::derived}};
    }
};

// A preprocessor: every floating argument in double precision. The pipeline gives the arguments
// back as they were; what else a preprocessor changes, the destructor of its guard undoes.
struct in_double {
    static constexpr char const* name = "in_double";
    struct guard {
        torch::nn::Module* module;
        ~guard() { module->to(torch::kFloat); }
    };
    template<class Component>
    guard apply(Component& component) const {
        component.each_argument([](torch::Tensor& argument) {
            if (argument.is_floating_point())
                argument =
                    argument.detach().to(torch::kDouble).requires_grad_(argument.requires_grad());
        });
        component.module().to(torch::kDouble);
        return {&component.module()};
    }
};

// A sink: gets the finished report.
struct slowest {
    static constexpr char const* name = "slowest";
    using needs = cb::needs<cb::latency>;
    void write(cb::document const& report) const {
        auto const* self = report.find("self_ms");
        std::size_t worst = 0;
        for (std::size_t row = 0; row < report.nodes.size(); ++row)
            if (self->cells[row].number() > self->cells[worst].number())
                worst = row;
        std::printf("most time of its own: '%s'\n", report.nodes[worst].path.c_str());
    }
};

int main() {
    torch::manual_seed(0);
    torch::set_num_threads(1);
    torch::nn::TransformerEncoderLayer layer(
        torch::nn::TransformerEncoderLayerOptions(64, 4).dim_feedforward(256));
    auto const batch = torch::rand({16, 8, 64});

    cb::pipeline pipeline{cb::preprocessors{in_double{}},
                          cb::profilers{cb::latency{}, output_size{}, output_rate{}},
                          cb::sinks{cb::table{}, slowest{}}};
    auto const report = pipeline.run(cb::provide(layer, batch));
    return report.failures().empty() ? 0 : 1;
}

// A pipeline, from its making to the reading of a metric. What stands between the marks is blanked
// in the twin.
#include <component_benchmark/component_benchmark.hpp>
#include <component_benchmark/resume.hpp>

#include <cstdint>
#include <string>

namespace cb = component_benchmark;

struct model {
    double weight = 0.5;
    [[nodiscard]] double forward(double input) const { return input * weight + weight; }
};

/// What a program writes to be profiled; the fallback is what it would say without a profile.
double latency_of(model const& net, double input, std::string const& where, double fallback) {
    double milliseconds = fallback;
    std::int64_t parameters = 7;
    // begin profile
    auto pipeline = cb::pipeline{
        cb::preprocessors{},
        cb::profilers{cb::model_size{},
                      cb::latency{.warmup = 1, .samples = 5, .target_pct = 2, .budget_s = 0.5},
                      cb::cold_latency{.samples = 9}, cb::in_context{.steps = 2}},
        cb::sinks{cb::table{.width = 80}, cb::json{"report.json"}, cb::json{where},
                  cb::journal{"run.journal"}, cb::journal{.path = where, .sync = true}},
        cb::options{
            .depth = 2,
            .include = {{.path = "inter_arch.**"}, {.type = where, .min_depth = 1}},
            .exclude = {cb::filter{.path = where, .max_parameters = parameters}},
            .copy_arguments = true,
            .busy = cb::when_busy::refuse,
            .peaks = {.tflops = {{"bf16", 989.4}, {where, fallback}}, .bandwidth_gbps = 3350},
            .time_budget_s = 60,
            .reuse_identical = true,
            .resume = cb::read_journal(where)}};
    pipeline.check();
    auto const report = pipeline.run(cb::provide(net, input).loss([](double out) { return out; }));
    auto const row = report["inter_arch.deep_fm"];
    milliseconds = row.get<cb::latency>().latency_ms.value_or(milliseconds);
    parameters = report[where].get<cb::model_size>().params.value_or(parameters);
    if (row.get<cb::latency>().latency_bwd_ms.has_value() || !report.failures().empty())
        milliseconds = row.get<cb::latency>().latency_bwd_ms.value();
    for (auto const& sentence : report.failures())
        milliseconds += static_cast<double>(sentence.size());
    cb::table{}.write(report.document());
    parameters += row.calls();
    // end profile
    return milliseconds * static_cast<double>(parameters);
}

double train(model const& net, double input, std::string const& where) {
    double loss = 0.0;
    // begin profile
    auto due = cb::schedule::from_environment("step=50");
    cb::schedule other{where};
    // end profile
    for (int step = 0; step < 100; ++step) {
        loss += net.forward(input) * input + input * loss;
        if (step == 50)
            loss += latency_of(net, input, where, loss) * loss;
        // begin profile
        if (due() || other() || cb::interrupted())
            loss += latency_of(net, input, where, loss);
        // end profile
    }
    return loss;
}

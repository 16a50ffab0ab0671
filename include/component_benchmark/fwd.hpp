// everywhere: names without their definitions
#pragma once

namespace component_benchmark {

class error;
struct filter;
struct options;
struct document;
struct latency;
struct model_size;
struct table;
struct json;
struct journal;

}  // namespace component_benchmark

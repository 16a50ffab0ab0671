// report -> terminal: what the example programs print at their end
#pragma once

#include <component_benchmark/component_benchmark.hpp>

#include <vector>

/// The report without the name of its file, which a table tells people to read.
template<class Document>
[[nodiscard]] Document without_file(Document document) {
    if constexpr (requires { document.facts; })  // not where the library is turned off
        std::erase_if(document.facts.options,
                      [](auto const& option) { return option.first == "json"; });
    return document;
}

/// Prints the table. False when a file could not be written.
template<class Report>
[[nodiscard]] bool show_report(Report const& found) {
    auto const written = found.failures().empty();
    component_benchmark::table{}.write(written ? found.document() : without_file(found.document()));
    return written;
}

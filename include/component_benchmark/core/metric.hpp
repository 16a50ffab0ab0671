// profile -> metric -> result: a value with its unit and where it comes from
#pragma once

#include <component_benchmark/core/error.hpp>
#include <component_benchmark/core/unit.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace component_benchmark {

/// Where a number comes from. The order is that of the report schema.
enum class origin { measured, derived, estimated, reused, unavailable };

[[nodiscard]] constexpr std::string_view name_of(origin from) noexcept {
    constexpr std::string_view names[] = {"measured", "derived", "estimated", "reused",
                                          "unavailable"};
    return names[static_cast<int>(from)];
}

/// A number with its unit `Unit` and its origin; `Rule` says how a parent that could not be
/// measured is put together from its children. A number that is not known is never a zero: it is
/// `unavailable` and says why.
template<class Unit, aggregate Rule = aggregate::none>
class metric {
public:
    using unit = Unit;
    using value_type = typename Unit::value_type;
    static constexpr aggregate rule = Rule;

    /// Unavailable, for no reason given.
    metric() = default;

    /// Measured, unless `from` says otherwise.
    metric(value_type value, origin from = origin::measured)
        : value_(std::move(value)), from_{from} {}

    [[nodiscard]] static metric unavailable(std::string why) {
        metric result;
        result.why_ = std::move(why);
        return result;
    }

    [[nodiscard]] bool has_value() const noexcept { return from_ != origin::unavailable; }
    explicit operator bool() const noexcept { return has_value(); }

    /// The number in the unit; throws `error` with the reason when there is none.
    [[nodiscard]] value_type value() const {
        if (!has_value())
            throw error{"this metric is unavailable: " + why_};
        return value_;
    }

    [[nodiscard]] value_type value_or(value_type fallback) const {
        return has_value() ? value_ : fallback;
    }

    [[nodiscard]] origin from() const noexcept { return from_; }

    /// Why the number is unavailable, or what to know about it; often empty.
    [[nodiscard]] std::string const& why() const noexcept { return why_; }

    /// The same number with a remark.
    [[nodiscard]] metric because(std::string why) const {
        metric result = *this;
        result.why_ = std::move(why);
        return result;
    }

private:
    value_type value_{};
    origin from_ = origin::unavailable;
    std::string why_;
};

}  // namespace component_benchmark

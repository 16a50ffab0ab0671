// file -> [RAW TENSORS] -> model and batch: tensors that another program has written
// A manifest (.json: name, dtype, shape, offset, nbytes of each) beside their bytes (.bin).
#pragma once

#include "byte_ranges.hpp"
#include "input_file.hpp"
#include "require.hpp"
#include "shown.hpp"

#include <nlohmann/json.hpp>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace models {

/// The tensors of a file by name. Whatever is wrong with the file is one sentence that names it.
class raw_tensors {
public:
    [[nodiscard]] static raw_tensors read(std::filesystem::path manifest) {
        static_assert(std::endian::native == std::endian::little, "the file is little endian");
        raw_tensors made;
        made.file_ = std::move(manifest);
        made.read_all();
        return made;
    }

    [[nodiscard]] bool contains(std::string const& name) const { return tensors_.contains(name); }

    [[nodiscard]] at::Tensor const& at(std::string const& name) const {
        auto const found = tensors_.find(name);
        require(found != tensors_.end(), file(), ": expected a tensor ", name, ", given ",
                tensors_.size(), " others");
        return found->second;
    }

    /// All names that begin so, e.g. "param/".
    [[nodiscard]] std::vector<std::string> names(std::string_view prefix = {}) const {
        std::vector<std::string> names;
        for (auto const& [name, tensor] : tensors_)
            if (std::string_view{name}.substr(0, prefix.size()) == prefix)
                names.push_back(name);
        return names;
    }

    /// Keys of the sparse input, in the order of its values.
    [[nodiscard]] std::vector<std::string> const& kjt_keys() const { return kjt_keys_; }

    /// The manifest's path, for messages.
    [[nodiscard]] std::string file() const { return file_.string(); }

private:
    using json = nlohmann::json;

    static constexpr int deepest = 32;

    void read_all() {
        auto const manifest = parse(open_input(file_, "manifest"));
        require(
            manifest.is_object() && manifest.contains("tensors") && manifest["tensors"].is_array(),
            file(), ": expected a JSON object with a list \"tensors\"");
        auto const bytes_file = std::filesystem::path{file_}.replace_extension(".bin");
        auto bytes = open_input(bytes_file, "file beside the manifest", std::ios::ate);
        auto const size = static_cast<std::int64_t>(bytes.tellg());
        std::int64_t used = 0;
        byte_ranges taken;
        for (auto const& entry : manifest["tensors"])
            used = std::max(used, read_one(entry, bytes, size, taken));
        require(used == size, bytes_file.string(), ": expected ", used, " bytes by ", file(),
                ", given ", size);
        read_keys(manifest);
    }

    // Nothing of ours is deep, and a value that is deep enough breaks whoever walks it by
    // recursion.
    [[nodiscard]] json parse(std::istream&& text) const {
        auto const check = [this](int depth, json::parse_event_t, json const&) {
            require(depth <= deepest, file(), ": expected values in at most ", deepest,
                    " lists and objects around each other, given more");
            return true;
        };
        return json::parse(text, check, /*allow_exceptions=*/false);
    }

    // Returns where the tensor ends.
    std::int64_t read_one(json const& entry, std::istream& bytes, std::int64_t size,
                          byte_ranges& taken) {
        if (!(entry.is_object() && entry.contains("name") && entry["name"].is_string()))
            require(false, file(), ": expected each of the tensors to be an object with a ",
                    "\"name\", given ", text_of(entry));
        auto const key = entry["name"].get<std::string>();
        auto const name = shown(key, 100);
        require(!contains(key), file(), ": expected different names, given ", name, " twice");
        auto const shape = shape_of(entry, name);
        auto const type = type_of(entry, name);
        auto const offset = number(entry, "offset", name);
        auto const length = number(entry, "nbytes", name);
        auto const expected = byte_count(shape, type, name);
        require(length == expected, file(), ": tensor ", name, ": expected ", expected,
                " bytes for its shape ", shown_shape{shape}, ", given nbytes ", length);
        require(offset <= size && length <= size - offset, file(), ": tensor ", name,
                ": expected bytes within the file's ", size, ", given ", length, " from ", offset);
        if (auto const* other = taken.claim(offset, length, name))
            require(false, file(), ": tensor ", name, ": expected bytes of its own, given some of ",
                    "tensor ", *other);
        auto tensor = at::empty(shape, type);
        bytes.seekg(offset);
        bytes.read(static_cast<char*>(tensor.data_ptr()), length);
        require(bytes.good(), file(), ": tensor ", name, ": expected to read ", length,
                " bytes from ", offset, ", given ", bytes.gcount());
        tensors_.emplace(key, std::move(tensor));
        return offset + length;
    }

    [[nodiscard]] std::int64_t number(json const& entry, char const* key,
                                      std::string const& name) const {
        if (!(entry.contains(key) && entry[key].is_number_integer() &&
              entry[key].get<std::int64_t>() >= 0))
            require(false, file(), ": tensor ", name, ": expected a whole number \"", key,
                    "\", given ", text_of(entry, key));
        return entry[key].get<std::int64_t>();
    }

    [[nodiscard]] std::vector<std::int64_t> shape_of(json const& entry,
                                                     std::string const& name) const {
        auto good = entry.contains("shape") && entry["shape"].is_array();
        std::vector<std::int64_t> shape;
        if (good)
            for (auto const& size : entry["shape"]) {
                good = good && size.is_number_integer() && size.get<std::int64_t>() >= 0;
                shape.push_back(good ? size.get<std::int64_t>() : 0);
            }
        if (!good)
            require(false, file(), ": tensor ", name,
                    ": expected \"shape\" to be a list of sizes, ", "given ",
                    text_of(entry, "shape"));
        return shape;
    }

    [[nodiscard]] at::ScalarType type_of(json const& entry, std::string const& name) const {
        auto const text = text_of(entry, "dtype");
        require(text == "\"float32\"" || text == "\"int64\"", file(), ": tensor ", name,
                ": expected the dtype \"float32\" or \"int64\", given ", text);
        return text == "\"int64\"" ? at::kLong : at::kFloat;
    }

    // In steps, so that a shape made to overflow is an error and not a small tensor. A 0 counts as
    // 1, since LibTorch computes strides so.
    [[nodiscard]] std::int64_t byte_count(std::vector<std::int64_t> const& shape,
                                          at::ScalarType type, std::string const& name) const {
        constexpr std::int64_t limit = std::int64_t{1} << 40;
        auto bytes = static_cast<std::int64_t>(c10::elementSize(type));
        for (auto const size : shape) {
            auto const times = std::max<std::int64_t>(1, size);
            require(bytes <= limit / times, file(), ": tensor ", name,
                    ": expected a shape of at most ", limit, " bytes, given ", shown_shape{shape});
            bytes *= times;
        }
        return std::find(shape.begin(), shape.end(), 0) == shape.end() ? bytes : 0;
    }

    void read_keys(json const& manifest) {
        if (!manifest.contains("kjt_keys") || manifest["kjt_keys"].is_null())
            return;
        if (!manifest["kjt_keys"].is_array())
            require(false, file(), ": expected \"kjt_keys\" to be a list of names, given ",
                    text_of(manifest, "kjt_keys"));
        for (auto const& key : manifest["kjt_keys"]) {
            if (!key.is_string())
                require(false, file(), ": expected a name in \"kjt_keys\", given ", text_of(key));
            kjt_keys_.push_back(key.get<std::string>());
        }
    }

    [[nodiscard]] static std::string text_of(json const& entry, char const* key) {
        return entry.contains(key) ? text_of(entry[key]) : "nothing";
    }
    [[nodiscard]] static std::string text_of(json const& value) { return shown(value.dump()); }

    // Sizes as text, written only if somebody prints them.
    struct shown_shape {
        std::vector<std::int64_t> const& sizes;

        friend std::ostream& operator<<(std::ostream& out, shown_shape const& shape) {
            std::ostringstream text;
            text << at::IntArrayRef{shape.sizes};
            return out << shown(text.str());
        }
    };

    std::filesystem::path file_;
    std::map<std::string, at::Tensor> tensors_;
    std::vector<std::string> kjt_keys_;
};

}  // namespace models

// file -> [RAW TENSORS] -> model and batch: tensors that another program has written
// A manifest (.json: name, dtype, shape, offset, nbytes of each) beside their bytes (.bin).
#pragma once

#include "require.hpp"

#include <nlohmann/json.hpp>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
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

    void read_all() {
        std::ifstream text{file_};
        require(text.good(), file(), ": expected a readable manifest, given none");
        auto const manifest = json::parse(text, nullptr, /*allow_exceptions=*/false);
        require(
            manifest.is_object() && manifest.contains("tensors") && manifest["tensors"].is_array(),
            file(), ": expected a JSON object with a list \"tensors\"");
        auto const bytes_file = std::filesystem::path{file_}.replace_extension(".bin");
        std::ifstream bytes{bytes_file, std::ios::binary | std::ios::ate};
        require(bytes.good(), bytes_file.string(), ": expected a readable file beside ", file());
        auto const size = static_cast<std::int64_t>(bytes.tellg());
        std::int64_t used = 0;
        for (auto const& entry : manifest["tensors"])
            used = std::max(used, read_one(entry, bytes, size));
        require(used == size, bytes_file.string(), ": expected ", used, " bytes by ", file(),
                ", given ", size);
        read_keys(manifest);
    }

    // Returns where the tensor ends.
    std::int64_t read_one(json const& entry, std::istream& bytes, std::int64_t size) {
        require(entry.is_object() && entry.contains("name") && entry["name"].is_string(), file(),
                ": expected each of the tensors to be an object with a \"name\", given ",
                entry.dump());
        auto const name = entry["name"].get<std::string>();
        require(!contains(name), file(), ": expected different names, given ", name, " twice");
        auto const shape = shape_of(entry, name);
        auto const type = type_of(entry, name);
        auto const offset = number(entry, "offset", name);
        auto const length = number(entry, "nbytes", name);
        auto const expected = byte_count(shape, type, name);
        require(length == expected, file(), ": tensor ", name, ": expected ", expected,
                " bytes for its shape ", at::IntArrayRef{shape}, ", given nbytes ", length);
        require(offset <= size && length <= size - offset, file(), ": tensor ", name,
                ": expected bytes within the file's ", size, ", given ", length, " from ", offset);
        auto tensor = at::empty(shape, type);
        bytes.seekg(offset);
        bytes.read(static_cast<char*>(tensor.data_ptr()), length);
        require(bytes.good(), file(), ": tensor ", name, ": expected to read ", length,
                " bytes from ", offset, ", given ", bytes.gcount());
        tensors_.emplace(name, std::move(tensor));
        return offset + length;
    }

    [[nodiscard]] std::int64_t number(json const& entry, char const* key,
                                      std::string const& name) const {
        require(entry.contains(key) && entry[key].is_number_integer() &&
                    entry[key].get<std::int64_t>() >= 0,
                file(), ": tensor ", name, ": expected a whole number \"", key, "\", given ",
                text_of(entry, key));
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
        require(good, file(), ": tensor ", name, ": expected \"shape\" to be a list of sizes, ",
                "given ", text_of(entry, "shape"));
        return shape;
    }

    [[nodiscard]] at::ScalarType type_of(json const& entry, std::string const& name) const {
        auto const text = text_of(entry, "dtype");
        require(text == "\"float32\"" || text == "\"int64\"", file(), ": tensor ", name,
                ": expected the dtype \"float32\" or \"int64\", given ", text);
        return text == "\"int64\"" ? at::kLong : at::kFloat;
    }

    // In steps, so that a shape made to overflow is an error and not a small tensor.
    [[nodiscard]] std::int64_t byte_count(std::vector<std::int64_t> const& shape,
                                          at::ScalarType type, std::string const& name) const {
        constexpr std::int64_t limit = std::int64_t{1} << 40;
        auto bytes = static_cast<std::int64_t>(c10::elementSize(type));
        for (auto const size : shape) {
            require(size == 0 || bytes <= limit / size, file(), ": tensor ", name,
                    ": expected a shape of at most ", limit, " bytes, given ",
                    at::IntArrayRef{shape});
            bytes *= size;
        }
        return bytes;
    }

    void read_keys(json const& manifest) {
        if (!manifest.contains("kjt_keys"))
            return;
        require(manifest["kjt_keys"].is_array(), file(), ": expected \"kjt_keys\" to be a list of ",
                "names, given ", manifest["kjt_keys"].dump());
        for (auto const& key : manifest["kjt_keys"]) {
            require(key.is_string(), file(), ": expected a name in \"kjt_keys\", given ",
                    key.dump());
            kjt_keys_.push_back(key.get<std::string>());
        }
    }

    [[nodiscard]] static std::string text_of(json const& entry, char const* key) {
        return entry.contains(key) ? entry[key].dump() : "nothing";
    }

    std::filesystem::path file_;
    std::map<std::string, at::Tensor> tensors_;
    std::vector<std::string> kjt_keys_;
};

}  // namespace models

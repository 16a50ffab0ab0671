// What each of two shared libraries offers to a program: a module of its own class.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <string>

/// Given by the functions `left_side` and `right_side`, which are all that is visible of a library.
struct side {
    std::shared_ptr<torch::nn::Module> (*make)();
    at::Tensor (*forward)(torch::nn::Module& module, at::Tensor const& x);
    void const* (*recorder_place)();  ///< where its hooks look for a recorder
    std::string (*begin_run)();       ///< why it may not begin a run
};

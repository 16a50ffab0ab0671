// Empty. Built as a library called libtorch.so, like LibTorch's own, which is empty too and there
// to pull in CUDA. Libraries that were linked against LibTorch ask for it by that name.

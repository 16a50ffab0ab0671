// The hooks of a real model.
#include "models/deepfm.hpp"

at::Tensor predict(models::SimpleDeepFMNN& model, at::Tensor const& dense,
                   models::keyed_jagged_tensor const& sparse) {
    return model(dense, sparse);
}

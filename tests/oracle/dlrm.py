#!/usr/bin/env python3
"""Rows of oracle.json for DLRM and DLRM-DCN, from the real torchrec. Needs torch, torchrec and fbgemm-gpu-cpu.

dlrm.py       compares what oracle.json has with what is counted here and now, and fails where they differ
dlrm.py FILE  writes oracle.json with these models in it to FILE"""
import json
import pathlib
import sys

import torch
from torchrec.models.dlrm import DLRM, DLRM_DCN
from torchrec.modules.embedding_configs import EmbeddingBagConfig
from torchrec.modules.embedding_modules import EmbeddingBagCollection
from torchrec.sparse.jagged_tensor import KeyedJaggedTensor, KeyedTensor

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "profile" / "torch_peer"))
from modules_alone import count, elements, facts_of_modules, map_tensors

TABLES, ROWS, WIDTH, BATCH, IDS = 8, 1_000, 16, 32, 4  # the shape `small` of examples/models/dlrm_shapes.hpp


def make(cross):
    """The model after the seed 1, and its inputs after the seed 2."""
    torch.manual_seed(1)
    tables = EmbeddingBagCollection(tables=[
        EmbeddingBagConfig(name=f"t{place}", embedding_dim=WIDTH, num_embeddings=ROWS, feature_names=[f"f{place}"])
        for place in range(TABLES)])
    sizes = {"embedding_bag_collection": tables, "dense_in_features": 13, "dense_arch_layer_sizes": [64, 32, WIDTH],
             "over_arch_layer_sizes": [64, 32, 1]}
    model = DLRM_DCN(dcn_num_layers=2, dcn_low_rank_dim=16, **sizes) if cross else DLRM(**sizes)
    torch.manual_seed(2)
    dense, ids = torch.rand(BATCH, 13), TABLES * BATCH * IDS
    return model, (dense, KeyedJaggedTensor.from_offsets_sync(
        keys=[f"f{place}" for place in range(TABLES)], values=torch.randint(0, ROWS, (ids,)),
        offsets=torch.arange(0, ids + 1, IDS)))


def start_of(output):
    return output.values().sum() if isinstance(output, KeyedTensor) else output.sum()


def shapes_of(value):
    """As oracle.json writes them."""
    if isinstance(value, torch.Tensor):
        return list(value.shape)
    if isinstance(value, KeyedTensor):
        return {"KeyedTensor": list(value.values().shape)}
    if isinstance(value, KeyedJaggedTensor):
        return {"KJT": [len(value.keys()), value.stride(), value.values().numel()]}
    if isinstance(value, (list, tuple)):
        return [shapes_of(one) for one in value]
    return type(value).__name__


def first_values(value):
    tensors = []
    map_tensors(tensors.append, value)
    return [float(f"{one:.7g}") for one in tensors[0].flatten()[:8].tolist()]


def row_of(facts):
    if facts["calls"]:
        arguments, named = facts.pop("call")
        result = facts.pop("result")
        facts |= {"inp": shapes_of([*arguments, *named.values()]), "out": shapes_of(result),
                  "out8": first_values(result)}
    return facts


def model_of(cross):
    model, inputs = make(cross)
    total = {"params": elements(model.parameters()), "fwd": count(lambda: model(*inputs)),
             "fwdbwd": count(lambda: start_of(model(*inputs)).backward())}
    return {"total": total, "modules": [row_of(facts) for facts in facts_of_modules(model, inputs, start_of)]}


def alike(known, found):
    """Up to rounding, which depends on the number of threads."""
    return all(abs(one - other) <= 1e-5 * max(map(abs, known)) for one, other in zip(known, found, strict=True))


def difference(known, found):
    """Where what is found is not what is known; the file may say more."""
    for key, value in found["total"].items():
        if known["total"][key] != value:
            return f"the total {key} is {value}, and {known['total'][key]} in the file"
    if len(known["modules"]) != len(found["modules"]):
        return f"{len(found['modules'])} modules, and {len(known['modules'])} in the file"
    for mine, theirs in zip(found["modules"], known["modules"]):
        for key, value in mine.items():
            if theirs.get(key) != value and not (key == "out8" and alike(theirs[key], value)):
                return f"'{mine['path']}': {key} is {value}, and {theirs.get(key)} in the file"
    return None


def main():
    oracle = json.loads((HERE / "oracle.json").read_text(encoding="utf-8"))
    found = {"dlrm_small": model_of(cross=False), "dlrm_dcn_small": model_of(cross=True)}
    if len(sys.argv) == 2:
        oracle["models"] |= {name: model for name, model in found.items() if name not in oracle["models"]}
        pathlib.Path(sys.argv[1]).write_text(json.dumps(oracle, indent=1) + "\n", encoding="utf-8")
    problems = [f"{name}: {problem}" for name, model in found.items()
                if (problem := difference(oracle["models"][name], model))]
    print(*problems, sep="\n")
    print(f"{len(found)} models with torch {torch.__version__}")
    return 1 if problems else 0


sys.exit(main())

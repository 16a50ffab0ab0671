"""What FlopCounterMode of PyTorch counts for the models of examples/models/, written in plain torch with their trees and
shapes. Needs the whole torch of Python.

Prints a JSON object as models.cpp does."""
import json
import math

import torch
import torch.nn.functional as F
from torch import nn

from modules_alone import count, facts_of_modules


class Bags(nn.Module):
    """A table for each feature, whose ids lie one behind the other in one tensor."""

    def __init__(self, tables, rows, width):
        super().__init__()
        self.embedding_bags = nn.ModuleDict({
            f"t{place}": nn.EmbeddingBag(rows, width, mode="sum", include_last_offset=True) for place in range(tables)})

    def forward(self, ids, offsets):
        batch = (offsets.numel() - 1) // len(self.embedding_bags)
        ids_of_feature = ids.split(ids.numel() // len(self.embedding_bags))
        offsets = offsets[:batch + 1]
        return torch.cat([bag(mine, offsets) for bag, mine in zip(self.embedding_bags.values(), ids_of_feature)], 1)


class SparseArch(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.embedding_bag_collection = Bags(*sizes)

    def forward(self, ids, offsets):
        return self.embedding_bag_collection(ids, offsets)


class Arch(nn.Module):
    """A network that its owner calls by its own name."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x)


class DeepFm(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.dense_module = layers

    def forward(self, vectors):
        return self.dense_module(torch.cat(vectors, 1))


class Fm(nn.Module):
    def forward(self, vectors):
        joined = torch.cat(vectors, 1)
        total = joined.sum(1, keepdim=True)
        return (total * total - (joined * joined).sum(1, keepdim=True)).sum(1, keepdim=True) * 0.5


class FmInteraction(nn.Module):
    def __init__(self, width, deep):
        super().__init__()
        self.deep_fm, self.fm = DeepFm(nn.Sequential(nn.Linear(width, deep), nn.ReLU())), Fm()

    def forward(self, dense, sparse):
        vectors = [dense, *sparse.split(dense.size(1), 1)]
        return torch.cat([dense, self.deep_fm(vectors), self.fm(vectors)], 1)


class SimpleDeepFm(nn.Module):
    def __init__(self, dense, hidden, deep, tables, rows, width):
        super().__init__()
        self.sparse_arch = SparseArch(tables, rows, width)
        self.dense_arch = Arch(nn.Sequential(nn.Linear(dense, hidden), nn.ReLU(), nn.Linear(hidden, width), nn.ReLU()))
        self.inter_arch = FmInteraction((tables + 1) * width, deep)
        self.over_arch = Arch(nn.Sequential(nn.Linear(width + deep + 1, 1), nn.Sigmoid()))

    def forward(self, dense, ids, offsets):
        return self.over_arch(self.inter_arch(self.dense_arch(dense), self.sparse_arch(ids, offsets)))


class Perceptron(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self._linear = nn.Linear(before, after)

    def forward(self, x):
        return torch.relu(self._linear(x))


class Perceptrons(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self._mlp = nn.Sequential(*map(Perceptron, sizes, sizes[1:]))

    def forward(self, x):
        return self._mlp(x)


class DotInteraction(nn.Module):
    def forward(self, dense, vectors):
        stacked = torch.cat([dense.unsqueeze(1), vectors], 1)
        rows, columns = torch.triu_indices(stacked.size(1), stacked.size(1), offset=1)
        return torch.cat([dense, torch.bmm(stacked, stacked.transpose(1, 2))[:, rows, columns]], 1)


class CrossNet(nn.Module):
    def __init__(self, width, layers, rank):
        super().__init__()
        self.W_kernels = nn.ParameterList(nn.Parameter(torch.rand(width, rank)) for _ in range(layers))
        self.V_kernels = nn.ParameterList(nn.Parameter(torch.rand(rank, width)) for _ in range(layers))
        self.bias = nn.ParameterList(nn.Parameter(torch.zeros(width, 1)) for _ in range(layers))

    def forward(self, x):
        first = crossed = x.unsqueeze(2)
        for wide, narrow, bias in zip(self.W_kernels, self.V_kernels, self.bias):
            crossed = first * (torch.matmul(wide, torch.matmul(narrow, crossed)) + bias) + crossed
        return crossed.squeeze(2)


class CrossInteraction(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.crossnet = CrossNet(*sizes)

    def forward(self, dense, vectors):
        return self.crossnet(torch.cat([dense.unsqueeze(1), vectors], 1).flatten(1))


class DlrmSparseArch(SparseArch):
    def forward(self, ids, offsets):
        pooled = self.embedding_bag_collection(ids, offsets)
        return pooled.reshape(pooled.size(0), len(self.embedding_bag_collection.embedding_bags), -1)


class Dlrm(nn.Module):
    """`cross`: layers and rank of a cross net, or nothing for dot products."""

    def __init__(self, dense, over, tables, rows, width, cross=None):
        super().__init__()
        self.sparse_arch = DlrmSparseArch(tables, rows, width)
        self.dense_arch = Arch(Perceptrons(dense))
        vectors = tables + 1
        self.inter_arch = CrossInteraction(vectors * width, *cross) if cross else DotInteraction()
        features = vectors * width if cross else width + vectors * (vectors - 1) // 2
        self.over_arch = Arch(nn.Sequential(Perceptrons([features, *over[:-1]]), nn.Linear(*over[-2:])))

    def forward(self, dense, ids, offsets):
        return self.over_arch(self.inter_arch(self.dense_arch(dense), self.sparse_arch(ids, offsets)))


class Attention(nn.Module):
    def __init__(self, heads, width, longest, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.attn_dropout, self.resid_dropout = nn.Dropout(0.0), nn.Dropout(0.0)
        self.register_buffer("bias", torch.ones(longest, longest).tril())

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.c_attn(x).split(width, 2))
        if self.fused:
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(2, 3) / math.sqrt(k.size(3))
            scores = scores.masked_fill(self.bias[:length, :length] == 0, -math.inf)
            seen = self.attn_dropout(scores.softmax(-1)) @ v
        return self.resid_dropout(self.c_proj(seen.transpose(1, 2).contiguous().view(batch, length, width)))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc, self.gelu = nn.Linear(width, 4 * width), nn.GELU()
        self.c_proj, self.dropout = nn.Linear(4 * width, width), nn.Dropout(0.0)

    def forward(self, x):
        return self.dropout(self.c_proj(self.gelu(self.c_fc(x))))


class Block(nn.Module):
    def __init__(self, heads, width, longest, fused):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), Attention(heads, width, longest, fused)
        self.ln_2, self.mlp = nn.LayerNorm(width), Mlp(width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    def __init__(self, layers, heads, width, vocabulary, longest, fused):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(vocabulary, width), "wpe": nn.Embedding(longest, width), "drop": nn.Dropout(0.0),
            "h": nn.ModuleList(Block(heads, width, longest, fused) for _ in range(layers)), "ln_f": nn.LayerNorm(width)})
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.transformer["wte"].weight = self.lm_head.weight

    def forward(self, ids, targets=None):
        parts = self.transformer
        x = parts["drop"](parts["wte"](ids) + parts["wpe"](torch.arange(ids.size(1))))
        for block in parts["h"]:
            x = block(x)
        x = parts["ln_f"](x)
        if targets is None:
            return self.lm_head(x[:, -1:])
        logits = self.lm_head(x)
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)


def bags(tables, rows, batch, ids_per_bag):
    ids = tables * batch * ids_per_bag
    return torch.randint(0, rows, (ids,)), torch.arange(0, ids + 1, ids_per_bag)


def deepfm():
    return (SimpleDeepFm(dense=64, hidden=128, deep=32, tables=4, rows=1_000, width=32),
            (torch.rand(32, 64), *bags(4, 1_000, 32, 4)))


def dlrm(cross=None):
    return (Dlrm(dense=[13, 64, 32, 16], over=[64, 32, 1], tables=8, rows=1_000, width=16, cross=cross),
            (torch.rand(32, 13), *bags(8, 1_000, 32, 4)))


def gpt(fused, with_targets):
    tokens = tuple(torch.randint(0, 128, (1, 32)) for _ in range(2 if with_targets else 1))
    return Gpt(layers=2, heads=2, width=32, vocabulary=128, longest=32, fused=fused), tokens


MODELS = {
    "deepfm": deepfm,
    "dlrm": dlrm,
    "dlrm_dcn": lambda: dlrm(cross=(2, 16)),
    "gpt, fused, targets": lambda: gpt(True, True),
    "gpt, fused": lambda: gpt(True, False),
    "gpt, manual, targets": lambda: gpt(False, True),
    "gpt, manual": lambda: gpt(False, False),
}


def start_of(output):
    """What the backward begins at: of a module with a loss that loss, of others the sum."""
    return output[1] if isinstance(output, tuple) else output.sum()


def facts_of(model, inputs):
    modules = {row["path"]: [row["iso_fwd"], row["iso_fwdbwd"], row["iso_fwdbwd_detached"]]
               for row in facts_of_modules(model, inputs, start_of) if row["calls"]}
    return {"total": [count(lambda: model(*inputs)), count(lambda: start_of(model(*inputs)).backward())],
            "modules": modules}


print(json.dumps({name: facts_of(*make()) for name, make in MODELS.items()}))

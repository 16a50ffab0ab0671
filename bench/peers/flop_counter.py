#!/usr/bin/env python3
"""What PyTorch's FlopCounterMode adds to a forward, measured in turns with a plain one. Needs the whole torch of Python.

flop_counter.py SHAPE [--threads N] [--rounds N] [--repetitions N]; prints one JSON object. The shapes are those of
examples/models/, in plain torch modules; a repetition counts one forward, from an empty counter to the sum."""
import argparse
import json
import statistics
import time

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


class DeepFm(nn.Module):
    """A table for each feature, whose ids lie one behind the other in one tensor."""

    def __init__(self, dense, hidden, deep, tables, rows, width):
        super().__init__()
        self.bags = nn.ModuleList(
            nn.EmbeddingBag(rows, width, mode="sum", include_last_offset=True) for _ in range(tables))
        self.dense = nn.Sequential(nn.Linear(dense, hidden), nn.ReLU(), nn.Linear(hidden, width), nn.ReLU())
        self.deep = nn.Sequential(nn.Linear((tables + 1) * width, deep), nn.ReLU())
        self.over = nn.Sequential(nn.Linear(width + deep + 1, 1), nn.Sigmoid())

    def forward(self, dense, ids, offsets, ids_of_feature):
        batch = dense.size(0)
        vectors = [self.dense(dense)]
        for place, (bag, mine) in enumerate(zip(self.bags, ids.split(ids_of_feature))):
            begin = place * batch
            vectors.append(bag(mine, offsets[begin:begin + batch + 1] - place * ids_of_feature))
        joined = torch.cat(vectors, 1)
        total = joined.sum(1, keepdim=True)
        pairs = (total * total - (joined * joined).sum(1, keepdim=True)).sum(1, keepdim=True) * 0.5
        return self.over(torch.cat([vectors[0], self.deep(joined), pairs], 1))


class Block(nn.Module):
    def __init__(self, heads, width):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.parts, self.join = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dropout = nn.Dropout(0.0)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.0))

    def attend(self, x):
        batch, length, width = x.shape
        by_head = [part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.parts(x).split(width, 2)]
        seen = nn.functional.scaled_dot_product_attention(*by_head, is_causal=True)
        return self.dropout(self.join(seen.transpose(1, 2).contiguous().view(batch, length, width)))

    def forward(self, x):
        x = x + self.attend(self.before_attention(x))
        return x + self.mlp(self.before_mlp(x))


class Gpt(nn.Module):
    def __init__(self, layers, heads, width, vocabulary, longest):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(longest, width)
        self.dropout = nn.Dropout(0.0)
        self.blocks = nn.ModuleList(Block(heads, width) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.tokens.weight = self.head.weight

    def forward(self, ids, targets):
        x = self.dropout(self.tokens(ids) + self.places(torch.arange(ids.size(1))))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)


def deepfm(batch, ids_per_bag, **sizes):
    ids_of_feature = batch * ids_per_bag
    count = sizes["tables"] * ids_of_feature
    return DeepFm(**sizes), (torch.rand(batch, sizes["dense"]), torch.randint(0, sizes["rows"], (count,)),
                             torch.arange(0, count + 1, ids_per_bag), ids_of_feature)


def gpt(batch, length, **sizes):
    tokens = [torch.randint(0, sizes["vocabulary"], (batch, length)) for _ in range(2)]
    return Gpt(**sizes), tokens


SHAPES = {
    "cpu-small": lambda: deepfm(32, 4, dense=64, hidden=128, deep=32, tables=4, rows=1_000, width=32),
    "paper": lambda: deepfm(64, 4, dense=1_024, hidden=4_096, deep=512, tables=8, rows=10_000, width=512),
    "124m": lambda: gpt(1, 64, layers=12, heads=12, width=768, vocabulary=50_304, longest=1_024),
}


def microseconds(run, repetitions):
    start = time.perf_counter_ns()
    for _ in range(repetitions):
        run()
    return (time.perf_counter_ns() - start) / repetitions / 1e3


def in_turns(base, other, rounds, repetitions):
    """As bench/support/pairs.hpp: a round does both, the order changes, and the first round does not count."""
    taken = []
    for place in range(rounds + 1):
        first, second = (base, other) if place % 2 else (other, base)
        times = {first: microseconds(first, repetitions)}
        times[second] = microseconds(second, repetitions)
        taken.append((times[base], times[other]))
    return taken[1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=51)
    parser.add_argument("--repetitions", type=int, default=20)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    torch.manual_seed(1)
    model, inputs = SHAPES[asked.shape]()

    def plain():
        model(*inputs)

    def counted():
        with FlopCounterMode(display=False) as counter:
            model(*inputs)
        return counter.get_total_flops()

    taken = in_turns(plain, counted, asked.rounds, asked.repetitions)
    print(json.dumps({
        "shape": asked.shape, "torch": torch.__version__, "threads": torch.get_num_threads(), "flops": counted(),
        "plain_us": statistics.median(base for base, _ in taken),
        "counted_us": statistics.median(other for _, other in taken),
        "added_us": statistics.median(other - base for base, other in taken),
        "ratio": statistics.median(other / base for base, other in taken)}))


main()

"""What FlopCounterMode of PyTorch counts for each case of ours.cpp. Needs the whole torch of Python.

Prints a JSON object: {"torch": version, "cases": {case: FLOPs, or why it has no count}, "counted": operators with FLOPs,
"registry": operators with a formula}."""
import json

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode, flop_registry

aten = torch.ops.aten


def ones(*sizes):
    return torch.ones(sizes)


def leaf(*sizes):
    return torch.ones(sizes, requires_grad=True)


def meta(*sizes):
    """Without memory: operators of another device run on it, as far as shapes go."""
    return torch.empty(sizes, device="meta")


def backward(result):
    result.sum().backward()


def autocast(work):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        work()


q, kv = meta(2, 8, 16, 32), meta(2, 2, 16, 32)
k, v = meta(2, 8, 24, 32), meta(2, 8, 24, 32)
rows_q, rows_k = meta(2, 16, 8, 32), meta(2, 24, 8, 32)
packed = meta(12, 8, 32)
offsets = torch.tensor([0, 5, 12], dtype=torch.int32)
lse, seed, none = meta(2, 8, 16), torch.empty((), dtype=torch.long, device="meta"), meta(0)

CASES = {
    "mm": lambda: torch.mm(ones(4, 5), ones(5, 6)),
    "mm into a given tensor": lambda: torch.mm(ones(4, 5), ones(5, 6), out=ones(4, 6)),
    "mm of nothing": lambda: torch.mm(ones(0, 5), ones(5, 6)),
    "addmm, a vector": lambda: torch.addmm(ones(6), ones(4, 5), ones(5, 6)),
    "addmm, a matrix": lambda: torch.addmm(ones(4, 6), ones(4, 5), ones(5, 6)),
    "addmm in place": lambda: ones(4, 6).addmm_(ones(4, 5), ones(5, 6)),
    "bmm": lambda: torch.bmm(ones(3, 4, 5), ones(3, 5, 6)),
    "baddbmm": lambda: torch.baddbmm(ones(3, 4, 6), ones(3, 4, 5), ones(3, 5, 6)),
    "baddbmm in place": lambda: ones(3, 4, 6).baddbmm_(ones(3, 4, 5), ones(3, 5, 6)),
    "addbmm": lambda: torch.addbmm(ones(4, 6), ones(3, 4, 5), ones(3, 5, 6)),
    "mv": lambda: torch.mv(ones(4, 5), ones(5)),
    "addmv": lambda: torch.addmv(ones(4), ones(4, 5), ones(5)),
    "dot": lambda: torch.dot(ones(5), ones(5)),
    "bilinear": lambda: nn.Bilinear(3, 4, 5)(ones(2, 3), ones(2, 4)),
    "cdist": lambda: torch.cdist(ones(30, 4), ones(31, 4)),
    "product of int8": lambda: torch._int_mm(ones(32, 32).to(torch.int8), ones(32, 32).to(torch.int8)),
    "scaled mm of fp8": lambda: torch._scaled_mm(
        meta(16, 32).to(torch.float8_e4m3fn), meta(16, 32).to(torch.float8_e4m3fn).t(), meta(), meta()),
    "sparse mm": lambda: torch.mm(torch.eye(4).to_sparse(), ones(4, 5)),
    "matmul, rank 4 by 2": lambda: torch.matmul(ones(2, 3, 4, 5), ones(5, 6)),
    "matmul, rank 4 by 4": lambda: torch.matmul(ones(2, 3, 4, 5), ones(2, 3, 5, 6)),
    "matmul, broadcast": lambda: torch.matmul(ones(2, 1, 4, 5), ones(3, 5, 6)),
    "matmul, matrix by vector": lambda: torch.matmul(ones(4, 5), ones(5)),
    "einsum of matrices": lambda: torch.einsum("ab,bc->ac", ones(6, 7), ones(7, 8)),
    "einsum of vectors": lambda: torch.einsum("i,j->ij", ones(3), ones(4)),
    "einsum of rows": lambda: torch.einsum("bi,bi->b", ones(3, 4), ones(3, 4)),
    "tensordot": lambda: torch.tensordot(ones(2, 3, 4), ones(4, 3, 5), ([1, 2], [1, 0])),
    "mm and bmm, backward": lambda: backward(
        torch.bmm(torch.mm(leaf(4, 5), ones(5, 6)).expand(7, 4, 6), ones(7, 6, 7))),
    "linear, a batch": lambda: nn.Linear(9, 10)(ones(8, 9)),
    "linear, no bias": lambda: nn.Linear(9, 10, bias=False)(ones(8, 9)),
    "linear, a batch of rows": lambda: nn.Linear(9, 10)(ones(2, 7, 9)),
    "linear, one row": lambda: nn.Linear(9, 10)(ones(9)),
    "linear, backward": lambda: backward(nn.Linear(9, 10)(ones(8, 9))),
    "linear, backward to the input": lambda: backward(nn.Linear(9, 10)(leaf(8, 9))),
    "linear, autocast": lambda: autocast(lambda: backward(nn.Linear(9, 10)(leaf(8, 9)))),
    "convolution": lambda: F.conv2d(ones(2, 3, 6, 6), ones(6, 3, 4, 4), padding=1),
    "convolution, 1-d": lambda: F.conv1d(ones(2, 3, 6), ones(6, 3, 4), padding=1),
    "convolution, 3-d": lambda: F.conv3d(ones(1, 2, 5, 6, 7), ones(3, 2, 2, 3, 2)),
    "convolution, stride": lambda: F.conv2d(ones(1, 3, 8, 8), ones(16, 3, 3, 3), ones(16), stride=2, padding=1),
    "convolution, groups": lambda: F.conv2d(ones(1, 4, 8, 8), ones(6, 2, 3, 3), groups=2),
    "convolution, dilation": lambda: F.conv2d(ones(1, 3, 10, 10), ones(4, 3, 3, 3), dilation=2),
    "convolution, no batch": lambda: F.conv2d(ones(3, 6, 6), ones(6, 3, 4, 4)),
    "convolution, transposed 1-d": lambda: F.conv_transpose1d(ones(2, 3, 6), ones(3, 5, 4)),
    "convolution, transposed": lambda: F.conv_transpose2d(
        ones(1, 4, 5, 5), ones(4, 6, 3, 3), stride=2, padding=1, output_padding=1),
    "convolution, transposed, groups": lambda: F.conv_transpose2d(ones(1, 4, 5, 5), ones(4, 3, 3, 3), groups=2),
    "convolution, backward": lambda: backward(F.conv2d(leaf(2, 3, 6, 6), leaf(6, 3, 4, 4), padding=1)),
    "convolution, backward to the weight": lambda: backward(
        F.conv2d(ones(2, 3, 6, 6), leaf(6, 3, 4, 4), padding=1)),
    "convolution, transposed, backward": lambda: backward(F.conv_transpose2d(
        leaf(1, 4, 5, 5), leaf(4, 6, 3, 3), stride=2, padding=1, output_padding=1)),
    "convolution, groups, backward": lambda: backward(F.conv2d(leaf(1, 4, 8, 8), leaf(6, 2, 3, 3), groups=2)),
    "convolution, depthwise, backward": lambda: backward(F.conv2d(leaf(1, 4, 8, 8), leaf(4, 1, 3, 3), groups=4)),
    "convolution, by its inner name": lambda: aten._convolution(
        ones(2, 3, 6, 6), ones(6, 3, 4, 4), None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1, False, False, True, True),
    "lstm": lambda: nn.LSTM(3, 4)(ones(5, 2, 3)),
    "lstm, two layers": lambda: nn.LSTM(3, 4, num_layers=2)(ones(5, 2, 3)),
    "lstm, both directions, backward": lambda: backward(nn.LSTM(3, 4, bidirectional=True)(ones(5, 2, 3))[0]),
    "gru": lambda: nn.GRU(3, 4)(ones(5, 2, 3)),
    "gru, backward": lambda: backward(nn.GRU(3, 4)(ones(5, 2, 3))[0]),
    "rnn": lambda: nn.RNN(3, 4)(ones(5, 2, 3)),
    "attention layer": lambda: nn.MultiheadAttention(8, 2)(*[ones(5, 2, 8)] * 3),
    "attention layer, to others": lambda: nn.MultiheadAttention(8, 2)(ones(5, 2, 8), ones(7, 2, 8), ones(7, 2, 8)),
    "attention layer, backward": lambda: backward(nn.MultiheadAttention(8, 2)(*[leaf(5, 2, 8)] * 3)[0]),
    "attention on the CPU": lambda: F.scaled_dot_product_attention(*[ones(2, 8, 16, 32)] * 3, is_causal=True),
    "attention on the CPU, backward": lambda: backward(
        F.scaled_dot_product_attention(*[leaf(2, 8, 16, 32)] * 3)),
    "attention, wider values": lambda: F.scaled_dot_product_attention(
        ones(2, 8, 16, 32), ones(2, 8, 24, 32), ones(2, 8, 24, 40)),
    "flash attention": lambda: aten._scaled_dot_product_flash_attention(q, k, v),
    "flash attention, shared keys": lambda: aten._scaled_dot_product_flash_attention(q, kv, kv),
    "flash attention, backward": lambda: aten._scaled_dot_product_flash_attention_backward(
        q, q, k, v, q, lse, none, none, 16, 24, 0.0, False, seed, seed),
    "efficient attention": lambda: aten._scaled_dot_product_efficient_attention(q, k, v, None, True),
    "efficient attention, backward": lambda: aten._scaled_dot_product_efficient_attention_backward(
        q, q, k, v, none, q, lse, seed, seed, 0.0, [True, True, True, False]),
    "cudnn attention": lambda: aten._scaled_dot_product_cudnn_attention(q, k, v, None, True),
    "cudnn attention, backward": lambda: aten._scaled_dot_product_cudnn_attention_backward(
        q, q, k, v, q, lse, seed, seed, none, none, none, 16, 24, 0.0, False),
    "flash kernel": lambda: aten._flash_attention_forward(
        rows_q, rows_k, rows_k, None, None, 16, 24, 0.0, False, False),
    "flash kernel, lengths": lambda: aten._flash_attention_forward(
        packed, packed, packed, offsets, offsets, 7, 7, 0.0, False, False),
    "flash kernel, lengths, backward": lambda: aten._flash_attention_backward(
        packed, packed, packed, packed, packed, lse, offsets, offsets, 7, 7, 0.0, False, seed, seed),
    "efficient kernel": lambda: aten._efficient_attention_forward(
        rows_q, rows_k, rows_k, None, None, None, 16, 24, 0.0, 0),
    "efficient kernel, lengths": lambda: aten._efficient_attention_forward(
        packed[None], packed[None], packed[None], None, offsets, offsets, 7, 7, 0.0, 0),
    "efficient kernel, lengths, backward": lambda: aten._efficient_attention_backward(
        packed[None], packed[None], packed[None], packed[None], None, packed[None], offsets, offsets, 7, 7, lse, 0.0,
        seed, seed, 0, False),
    "embeddings": lambda: backward(
        nn.Embedding(10, 4)(torch.zeros(3, dtype=torch.long)) + nn.EmbeddingBag(10, 4)(
            torch.zeros(3, 2, dtype=torch.long))),
    "norms and activations": lambda: backward(
        nn.BatchNorm1d(4)(F.dropout(F.gelu(F.softmax(F.relu(nn.LayerNorm(4)(leaf(3, 4))), -1)), 0.5))),
    "convolution, flatten, linear": lambda: nn.Sequential(
        nn.Conv2d(3, 10, 1), nn.ReLU(), nn.Flatten(), nn.Linear(1000, 10))(ones(1, 3, 10, 10)),
    "a step of training": lambda: step(),
}


def step():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten())
    optimizer = torch.optim.AdamW(model.parameters())
    F.cross_entropy(model(ones(2, 3, 8, 8)), torch.full((2,), 2)).backward()
    optimizer.step()


def main():
    cases, counted = {}, set()
    for name, work in CASES.items():
        counter = FlopCounterMode(display=False)
        try:
            with counter:
                work()
        except (AssertionError, NotImplementedError, RuntimeError, TypeError) as error:
            cases[name] = f"{type(error).__name__}: {error}".splitlines()[0]
            continue
        cases[name] = counter.get_total_flops()
        counted |= {str(op) for op, flops in counter.get_flop_counts()["Global"].items() if flops}
    registry = sorted(str(op) for op in flop_registry if not callable(getattr(op, "fn", None)))
    print(json.dumps({"torch": torch.__version__, "cases": cases, "counted": sorted(counted), "registry": registry}))


main()

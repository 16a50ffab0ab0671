"""Our counts under strict_pytorch against those of PyTorch's FlopCounterMode, which is run here and now.

python_peer.py CASES MODELS PYTHON: the programs made of torch_peer/ours.cpp, single operators and layers, and of
torch_peer/models.cpp, whole models and each of their modules alone; and a Python that can import torch. Without one it says
why and ends as a skipped test. What is counted differently on purpose is written down below, with the reason: any
other difference fails, and so does a known one that has changed."""
import json
import pathlib
import subprocess
import sys

SKIPPED = 77  # tests/support/gate.py; not imported, since it asks for more of its users
PEERS = pathlib.Path(__file__).resolve().parent / "torch_peer"

# case -> our FLOPs, what PyTorch 2.11 has in their place, and why
ONE_ERROR = "AssertionError: sdpa_flop_count: query/key/value shapes are incompatible"
GROUPS = "PyTorch counts the gradient of the weight once for each group more; its pull request 183405 corrects that"
KERNELS = "PyTorch takes the length of such a tensor for its heads; its pull request 184348 corrects that for the flash one"
KNOWN = {
    "convolution, groups, backward": (23_328, 31_104, GROUPS),
    "convolution, depthwise, backward": (7_776, 15_552, GROUPS),
    "flash attention, shared keys": (
        524_288, ONE_ERROR, "PyTorch asserts as many heads of keys as of queries until its pull request 177188"),
    "flash kernel": (786_432, ONE_ERROR, KERNELS),
    "efficient kernel": (786_432, ONE_ERROR, KERNELS),
    "sparse mm": (40, 160, "PyTorch counts a sparse matrix as if it were dense; the work is 2 for each value and column"),
}

# operators that FlopCounterMode has a formula for and no case runs
NOT_RUN = {
    "aten.convolution_overrideable": "only a device of an extension implements it; the formula is that of convolution",
    "aten.cudnn_convolution": "what cuDNN's convolution calls; aten.convolution around it is counted",
    "aten._slow_conv2d_forward": "within aten.convolution, too, and the formula fails: it expects the arguments of that",
}


def torch_is_missing(python):
    """Why, or nothing."""
    try:
        done = subprocess.run([python, "-c", "import torch.utils.flop_counter"], capture_output=True, text=True,
                              check=False)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return (done.stderr.strip().splitlines() or ["it ends in an error"])[-1] if done.returncode else None


def printed_by(*command):
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def problems_of_cases(ours, theirs):
    for name in sorted(set(ours) ^ set(theirs)):
        yield f"'{name}' is a case of {'ours.cpp' if name in ours else 'theirs.py'} only"
    for name in sorted(set(KNOWN) - set(ours)):
        yield f"'{name}' is a known difference and no case"
    for name in sorted(set(ours) & set(theirs)):
        mine, other = ours[name], theirs[name]
        known = KNOWN.get(name)
        # a PyTorch that has its correction counts as we do
        if known and (mine != known[0] or other not in known[:2]):
            yield f"'{name}': we count {mine} and PyTorch says {other}; known are {known[0]} and {known[1]} ({known[2]})"
        elif not known and mine != other:
            yield f"'{name}': we count {mine} and PyTorch says {other}"


def problems_of_models(ours, theirs):
    for name in sorted(set(ours) ^ set(theirs)):
        yield f"'{name}' is a model of {'models.cpp' if name in ours else 'their_models.py'} only"
    for name in sorted(set(ours) & set(theirs)):
        if ours[name]["total"] != theirs[name]["total"]:
            yield f"{name}: we count {ours[name]['total']} and PyTorch says {theirs[name]['total']}"
        mine, other = ours[name]["modules"], theirs[name]["modules"]
        for path in sorted(set(mine) | set(other)):
            if mine.get(path) != other.get(path):
                yield f"{name}, module '{path}': we count {mine.get(path)} and PyTorch says {other.get(path)}"


def problems_of_registry(registry, counted):
    for op in sorted(set(registry) - set(counted) - set(NOT_RUN)):
        yield f"{op} has a formula in PyTorch; no case runs it, and no reason is given"
    for op in sorted(set(NOT_RUN) & set(counted)):
        yield f"{op} is run, so the reason for not running it is wrong"


def main():
    program, models, python = sys.argv[1:]
    if why := torch_is_missing(python):
        print(f"skipped: {python} cannot import torch ({why}); COMPONENT_BENCHMARK_FULL_PYTHON names one that can")
        return SKIPPED
    ours, theirs = printed_by(program), printed_by(python, "-B", PEERS / "theirs.py")
    our_models, their_models = printed_by(models), printed_by(python, "-B", PEERS / "their_models.py")
    problems = [*problems_of_cases(ours, theirs["cases"]),
                *problems_of_registry(theirs["registry"], theirs["counted"]),
                *problems_of_models(our_models, their_models)]
    print(*problems, sep="\n")
    modules = sum(len(model["modules"]) for model in our_models.values())
    print(f"{len(ours)} cases and {modules} modules of {len(our_models)} models against torch {theirs['torch']}")
    for name, (mine, other, reason) in KNOWN.items():
        print(f"known: '{name}': {mine}, PyTorch {theirs['cases'].get(name)}: {reason}")
    for op, reason in NOT_RUN.items():
        print(f"not run: {op}: {reason}")
    return 1 if problems else 0


sys.exit(main())

"""FLOPs of each module of a model, run alone on what it was called with, by FlopCounterMode. Needs the whole torch of
Python; imported by their_models.py and by tests/oracle/dlrm.py."""
import torch
from torch.utils._pytree import tree_map
from torch.utils.flop_counter import FlopCounterMode


def count(work):
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


def map_tensors(change, value):
    return tree_map(lambda one: change(one) if isinstance(one, torch.Tensor) else one, value)


def elements(parameters):
    return sum(one.numel() for one in {id(one): one for one in parameters}.values())


def calls_of(model, inputs):
    """path -> arguments and results of its calls, cut off the graph, in one forward."""
    calls = {}

    def cut(value):
        return map_tensors(lambda one: one.detach().clone().requires_grad_(one.requires_grad), value)

    def watch(path):
        def before(_, arguments, named):
            calls.setdefault(path, []).append([cut((arguments, named))])

        def after(_, __, result):
            calls[path][-1].append(cut(result))
        return before, after

    hooks = []
    for path, module in model.named_modules():
        before, after = watch(path)
        hooks += [module.register_forward_pre_hook(before, with_kwargs=True), module.register_forward_hook(after)]
    model(*inputs)
    for hook in hooks:
        hook.remove()
    return calls


def flops_alone(module, call, start_of, backward, detached=False):
    arguments, named = map_tensors(
        lambda one: one.detach().requires_grad_(backward and not detached and one.requires_grad), call)

    def run():
        with torch.set_grad_enabled(backward):
            start = start_of(module(*arguments, **named))
        if start.requires_grad:
            start.backward()
    return count(run)


def facts_of_modules(model, inputs, start_of):
    """A dictionary for each module, in order; `start_of(result)` is what a backward begins at."""
    calls = calls_of(model, inputs)
    for path, module in model.named_modules():
        mine = calls.get(path, [])
        facts = {"path": path, "type": type(module).__name__, "own": elements(module.parameters(recurse=False)),
                 "total": elements(module.parameters()), "calls": len(mine)}
        if mine:
            call, result = mine[0]
            facts |= {"iso_fwd": flops_alone(module, call, start_of, backward=False),
                      "iso_fwdbwd": flops_alone(module, call, start_of, backward=True),
                      "iso_fwdbwd_detached": flops_alone(module, call, start_of, backward=True, detached=True),
                      "call": call, "result": result}
        yield facts

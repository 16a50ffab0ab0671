"""Runs an example as a user would: what it prints, what it refuses, and that nothing half-written is left.

programs.py NAME PROGRAM
programs.py libtorch_root CMAKE   that a build folder remembers where its LibTorch is, and has only one"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORACLE = ROOT / "tests" / "oracle"


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def expect_refused(program, arguments, *parts):
    status, _, said = run(program, *arguments)
    expect(status not in (0, -6, -11), f"{arguments} ended with {status}")
    for part in parts:
        expect(part in said, f"{arguments} said {said!r}, expected {part!r} in it")


def expect_lost_output(program, *arguments):
    """A program whose output nobody can read has failed, and says so once."""
    for where, close in ((open("/dev/full", "w"), None), (None, lambda: os.close(1))):
        done = subprocess.run([program, *map(str, arguments)], stdout=where, stderr=subprocess.PIPE, text=True,
                              preexec_fn=close, check=False)
        expect(done.returncode == 1, f"{arguments} without an output ended with {done.returncode}")
        expect(done.stderr.count("\n") == 1 and ("No space left" in done.stderr or "closed" in done.stderr),
               f"{arguments} without an output said {done.stderr!r}")


def first_profile(program):
    status, printed, said = run(program)
    expect(status == 0 and not said, f"it ended with {status} and said {said!r}")
    for part in ("Model", "mlp  Mlp", "gelu  GELU", "mlp.up alone:"):
        expect(part in printed, f"{part!r} is not in {printed!r}")


def own_plugins(program):
    status, printed, said = run(program)
    expect(status == 0 and not said, f"it ended with {status} and said {said!r}")
    for part in ("Output", "GB/s", "most time of its own:"):
        expect(part in printed, f"{part!r} is not in {printed!r}")


def live_training(program):
    """What it prints at the end is the same with a profile in its middle and without one."""
    ends = {}
    for schedule in ("off", "step=20", "every=15", ""):
        done = subprocess.run([program], capture_output=True, text=True, check=False,
                              env={**os.environ, "COMPONENT_BENCHMARK": schedule})
        expect(done.returncode == 0 and not done.stderr, f"{schedule} ended with {done.returncode}: {done.stderr!r}")
        ends[schedule] = done.stdout.splitlines()[-1]
        expect(("layers_[1]" in done.stdout) == (schedule != "off"), done.stdout)
        expect(("mix" in done.stdout) == (schedule != "off"), done.stdout)
    expect(len(set(ends.values())) == 1, f"the training ends differently: {ends}")
    done = subprocess.run([program], capture_output=True, text=True, check=False,
                          env={**os.environ, "COMPONENT_BENCHMARK": "stpe=20"})
    expect(done.returncode != 0 and "stpe=20" in done.stderr, f"a misspelt schedule said {done.stderr!r}")


def resume_deepfm(program, journal, report):
    """A run that was killed after eight components, in the middle of the next line."""
    shape = ["--shape", "unit", "--threads", 1, "--json", report, "--journal", journal]
    status, printed, _ = run(program, *shape)
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    expect(status == 0 and len(lines) == 23 and "resumed" not in printed, f"{len(lines)} lines, {printed}")
    whole = json.loads(report.read_text(encoding="utf-8"))
    journal.write_text("".join(lines[:9]) + lines[9][:40], encoding="utf-8")
    kept = {json.loads(line)["path"]: json.loads(line)["values"]["latency_ms"] for line in lines[1:9]}
    status, printed, said = run(program, *shape, "--resume")
    expect(status == 0 and not said and "22 components (8 resumed)" in printed, f"{status}, {said!r}: {printed}")
    expect(len(journal.read_text(encoding="utf-8").splitlines()) == 23, "the journal is whole again")
    resumed = json.loads(report.read_text(encoding="utf-8"))
    expect(resumed["nodes"]["status"] == whole["nodes"]["status"] and resumed["nodes"]["name"] == whole["nodes"]["name"],
           "the same rows as of a run that nobody disturbed")
    expect(sum(resumed["nodes"]["resumed"]) == 8 and resumed["meta"]["status"] == "complete", "8 rows are resumed")
    root = resumed["nodes"]["latency_ms"][0]
    expect(root == whole["nodes"]["latency_ms"][0] == float(f"{kept['']:.6g}"), f"{root} is not what was measured first")
    expect_refused(program, ["--shape", "cpu-small", "--threads", 1, "--journal", journal, "--resume"],
                   "which is of another run: ")
    expect_refused(program, ["--shape", "unit", "--resume"], "--resume requires --journal")
    expect_refused(program, ["--shape", "unit", "--journal", report], "a file that is not a journal")
    journal.unlink()


def deepfm(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        report = folder / "report.json"
        status, printed, said = run(program, "--shape", "unit", "--weights", ORACLE / "deepfm_unit.json", "--threads", 1,
                                    "--json", report, "--show", "inter_arch.fm")
        expect(status == 0 and not said, f"it ended with {status} and said {said!r}")
        expect("inter_arch.fm: 1 call, forward " in printed and "SimpleDeepFMNN: 22 components" in printed, printed)
        expect(f"read next: {report} " in printed, printed)
        document = json.loads(report.read_text(encoding="utf-8"))
        expect(document["schema"] == "component-benchmark/report", "the schema's name")
        expect(document["meta"]["unchanged"]["verified"] is True, "the model's state")
        expect(len(document["nodes"]["name"]) == 22, "22 rows")

        status, printed, _ = run(program, "--shape", "unit", "--depth", 1, "--show", "inter_arch.fm")
        expect(status == 0 and "rows filtered" in printed, "deeper rows are filtered")
        expect("forward not available (deeper than --depth), backward not available (" in printed, printed)
        status, printed, said = run(program, "--shape", "unit", "--include", "over_arch", "--include", "inter_arch.**",
                                    "--exclude", "**.fm", "--show", "inter_arch.fm")
        expect(status == 0 and not said, f"--include ended with {status} and said {said!r}")
        expect("OverArch" in printed and "DeepFM" in printed and "FactorizationMachine" not in printed, printed)
        expect("forward not available (left out by --include or --exclude), backward" in printed, printed)
        status, printed, _ = run(program, "--shape", "unit", "--include", ".", "--exclude", "over_arhc", "--json", report)
        expect(status == 0 and "21 rows filtered" in printed, printed)
        expect('warning: the exclude filter path="over_arhc" fits no component' in printed, printed)
        expect(json.loads(report.read_text())["meta"]["options"]["include"] == 'path=""', "the filters in the report")
        status, printed, _ = run(program, "--shape", "unit", "--level-by-level", "--json", report)
        document = json.loads(report.read_text(encoding="utf-8"))
        expect(status == 0 and document["meta"]["options"]["memory"] == "level by level", printed)
        expect(document["meta"]["unchanged"]["verified"] is True, "the model's state, level by level")
        status, printed, _ = run(program, "--shape", "unit", "--depth", "010", "--show", ".")
        expect(status == 0 and "\n.: 1 call, forward " in printed and "parameters 3,968\n" in printed, printed)
        resume_deepfm(program, folder / "run.journal", report)
        expect_lost_output(program, "--shape", "unit")
        expect_lost_output(program, "--help")

        expect_refused(program, ["--shape", "unit", "--dept", 1], "--dept")
        expect_refused(program, [], "--data", "--shape")
        expect_refused(program, ["--shape", "unit", "--data", "x"], "excludes")
        expect_refused(program, ["--shape", "huge"], "unit, cpu-small, paper", "huge")
        for given in ("0", "-1", "abc", "1025", "100000", "99999999999999999999", "1.5", " 1", "0x1", ""):
            expect_refused(program, ["--shape", "unit", "--threads", given],
                           f"--threads: expected 1 to 1024, given {given or 'an empty text'}\n")
        for given in ("-1", "99999999999999999999", ""):
            expect_refused(program, ["--shape", "unit", "--depth", given],
                           f"--depth: expected 0 to 999999999, given {given or 'an empty text'}\n")
            expect_refused(program, ["--data", folder, "--profile-step", given],
                           f"--profile-step: expected 0 to 999999999, given {given or 'an empty text'}\n")
        expect_refused(program, ["--shape", "unit", "--include", "over_arhc"],
                       'no component of SimpleDeepFMNN is left to be measured: include path="over_arhc"\n')
        expect_refused(program, ["--shape", "unit", "--exclude", "**"], "a filter in options.exclude is empty")
        expect_refused(program, ["--shape", "unit", "--include", "a", "b"], "b")
        expect_refused(program, ["--data", ""], "--data: expected a folder, given an empty text")
        expect_refused(program, ["--shape", ""], "--shape: expected a shape, given an empty text")
        for option, thing in (("--json", "a file"), ("--weights", "a file"), ("--show", "a path, or . for the root"),
                              ("--include", "a path, or . for the root"), ("--exclude", "a path, or . for the root")):
            expect_refused(program, ["--shape", "unit", option, ""], f"{option}: expected {thing}, given an empty text")
        expect_refused(program, ["--shape", "unit", "--show", "inter_arch.gm"], "inter_arch.gm", "deep_fm, fm")
        expect_refused(program, ["--data", folder, "--json", report], "--profile-step")
        expect_refused(program, ["--data", folder / "none", "--profile-step", 3], "none/ml-100k")
        expect_refused(program, ["--shape", "unit", "--weights", folder / "none.json"], "none.json")
        expect_refused(program, ["--shape", "unit", "--weights", ORACLE / "deepfm_small.json"], "param/sparse_arch")
        expect_refused(program, ["--shape", "unit", "--weights", folder], f"{folder}: expected", "given a directory")
        deep = folder / "deep.json"
        deep.write_text("[" * 200_000)
        expect_refused(program, ["--shape", "unit", "--weights", deep], f"{deep}: expected values in at most 32 lists")
        deep.unlink()
        kept = report.read_bytes()
        expect_refused(program, ["--shape", "unit", "--json", folder / "missing" / "report.json"], "missing")
        expect_refused(program, ["--shape", "unit", "--json", folder], str(folder))
        status, printed, said = run(program, "--shape", "unit", "--json", "/dev/full")
        expect(status == 1 and "/dev/full" in said, f"it ended with {status} and said {said!r}")
        expect("SimpleDeepFMNN" in printed and "/dev/full" not in printed, "the table names the file that is not there")
        status, printed, said = run(program, "--shape", "unit", "--json", folder / ("x" * 256))
        expect(status == 1 and not printed and "File name too long" in said, f"ended with {status} and said {said!r}")
        expect(report.read_bytes() == kept, "the report that was there")
        expect([path.name for path in folder.iterdir()] == ["report.json"], "no other file is left")


def expect_numbers_checked(program, *options):
    for option in options:
        for given in ("0", "-1", "abc", "1.5", "99999999999999999999", ""):
            expect_refused(program, [option, given], f"{option}: expected 1 to ",
                           f", given {given or 'an empty text'}\n")


def nanogpt(program):
    with tempfile.TemporaryDirectory() as name:
        report = pathlib.Path(name) / "report.json"
        calls = {}
        for options in ((), ("--manual-attention",), ("--no-targets", "--batch", 2, "--length", 16)):
            status, printed, said = run(program, "--shape", "tiny", "--threads", 1, "--json", report, *options)
            expect(status == 0 and not said, f"{options} ended with {status} and said {said!r}")
            expect("GPT: 34 components" in printed and "CausalSelfAttention" in printed, printed)
            document = json.loads(report.read_text(encoding="utf-8"))
            expect(document["meta"]["unchanged"]["verified"] is True, "the model's state")
            nodes, strings = document["nodes"], document["strings"]
            names = [strings[name] for name in nodes["name"]]
            calls[options] = nodes["calls"][names.index("attn_dropout")]
            shapes = strings[nodes["in_shapes"][names.index("lm_head")]]
            expected = "[2, 1, 32]" if "--no-targets" in options else "[1, 32, 32]"
            expect(shapes == expected, f"lm_head was given {shapes}")
        expect(list(calls.values()) == [0, 1, 0], f"attn_dropout is called by manual attention only: {calls}")
        expect_refused(program, ["--shape", "huge"], "tiny, 124m", "huge")
        expect_refused(program, ["--length", 33], "at most 32 tokens in a row (the block_size), given 33")
        expect_numbers_checked(program, "--batch", "--length", "--threads")
        expect_refused(program, ["--json", pathlib.Path(name) / "missing" / "report.json"], "missing")
    expect_lost_output(program)


def dlrm(program):
    for options, components, inside in (((), 31, "InteractionArch"), (("--dcn", "--batch", 3), 35, "LowRankCrossNet")):
        status, printed, said = run(program, "--shape", "small", "--threads", 1, *options)
        expect(status == 0 and not said, f"{options} ended with {status} and said {said!r}")
        expect(f": {components} components" in printed and inside in printed, printed)
    expect_refused(program, ["--shape", "huge"], "small, criteo", "huge")
    expect_numbers_checked(program, "--batch", "--threads")
    expect_lost_output(program)


def libtorch_root(cmake):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        for torch in ("torch", "other"):
            for file in ("include/torch/csrc/api/include/torch/torch.h", "include/torch/headeronly/version.h",
                         "lib/libc10.so", "lib/libtorch_cpu.so"):
                (folder / torch / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / torch / file).write_text("".join(
                    f"#define TORCH_VERSION_{part} 9\n" for part in ("MAJOR", "MINOR", "PATCH")))
        (folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.24)\nproject(remembers LANGUAGES CXX)\n"
            f"list(APPEND CMAKE_MODULE_PATH {ROOT}/cmake)\nset(COMPONENT_BENCHMARK_VENV OFF)\n"
            f"if(PROJECT_FOUND)\nadd_library(torch_cpu SHARED IMPORTED)\nset_target_properties(torch_cpu PROPERTIES\n"
            f"IMPORTED_LOCATION ${{PROJECT_FOUND}}/lib/libtorch_cpu.so)\nendif()\n"
            f"include(ComponentBenchmarkLibTorch)\nmessage(STATUS \"found=${{COMPONENT_BENCHMARK_LIBTORCH_FOUND}}=\")\n")
        asks = ("COMPONENT_BENCHMARK_LIBTORCH_ROOT", "Torch_DIR", "CMAKE_PREFIX_PATH")
        plain = {key: value for key, value in os.environ.items() if key not in asks}

        def configured(environment, arguments, build="build"):
            return subprocess.run([cmake, "-S", folder, "-B", folder / build, *arguments], capture_output=True,
                                  text=True, env={**plain, **environment}, check=False)

        def expect_found(torch, environment, *arguments):
            done = configured(environment, arguments)
            expect(done.returncode == 0 and f"found={folder / torch}=" in done.stdout, done.stdout + done.stderr)

        expect_found("torch", {"Torch_DIR": str(folder / "torch")})
        expect_found("torch", {})
        expect_found("other", {"Torch_DIR": str(folder / "other")})
        expect_found("other", {})
        expect_found("torch", {"CMAKE_PREFIX_PATH": str(folder / "torch")})
        expect_found("torch", {})
        expect_found("other", {}, f"-DTorch_DIR={folder / 'other'}")

        of_project = f"-DPROJECT_FOUND={folder / 'torch'}"
        expect_found("torch", {"COMPONENT_BENCHMARK_LIBTORCH_ROOT": str(folder / "torch")}, of_project)
        (folder / "link").symlink_to(folder / "torch")
        expect_found("torch", {"COMPONENT_BENCHMARK_LIBTORCH_ROOT": str(folder / "link")}, of_project)
        for environment, arguments in (({"COMPONENT_BENCHMARK_LIBTORCH_ROOT": str(folder / "other")}, []),
                                       ({}, [f"-DCOMPONENT_BENCHMARK_LIBTORCH_ROOT={folder / 'other'}"])):
            done = configured(environment, [of_project, *arguments], "refused")
            said = " ".join(done.stderr.split())
            expect(done.returncode != 0 and f"COMPONENT_BENCHMARK_LIBTORCH_ROOT is {folder / 'other'}, and this project has "
                   f"found the LibTorch at {folder / 'torch'}: a program can have only one" in said, said)


if __name__ == "__main__":
    {"01_first_profile": first_profile, "02_own_plugins": own_plugins,
     "03_live_training": live_training, "deepfm": deepfm, "nanogpt": nanogpt, "dlrm": dlrm,
     "libtorch_root": libtorch_root}[sys.argv[1]](sys.argv[2])

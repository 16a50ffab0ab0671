"""Runs an example as a user would: what it prints, what it refuses, and that nothing half-written is left.

programs.py NAME PROGRAM"""
import json
import pathlib
import subprocess
import sys
import tempfile

ORACLE = pathlib.Path(__file__).resolve().parents[1] / "oracle"


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


def deepfm(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        report = folder / "report.json"
        status, printed, said = run(program, "--shape", "unit", "--weights", ORACLE / "deepfm_unit.json", "--threads", 1,
                                    "--json", report, "--show", "inter_arch.fm")
        expect(status == 0 and not said, f"it ended with {status} and said {said!r}")
        expect("inter_arch.fm:" in printed and "SimpleDeepFMNN: 22 components" in printed, printed)
        document = json.loads(report.read_text(encoding="utf-8"))
        expect(document["schema"] == "component-benchmark/report", "the schema's name")
        expect(document["meta"]["unchanged"]["verified"] is True, "the model's state")
        expect(len(document["nodes"]["name"]) == 22, "22 rows")

        status, printed, _ = run(program, "--shape", "unit", "--depth", 1)
        expect(status == 0 and "rows filtered" in printed, "deeper rows are filtered")

        expect_refused(program, ["--shape", "unit", "--dept", 1], "--dept")
        expect_refused(program, [], "--data", "--shape")
        expect_refused(program, ["--shape", "unit", "--data", "x"], "excludes")
        expect_refused(program, ["--shape", "huge"], "unit, cpu-small, paper", "huge")
        expect_refused(program, ["--shape", "unit", "--threads", 0], "--threads")
        expect_refused(program, ["--shape", "unit", "--show", "inter_arch.gm"], "inter_arch.gm", "deep_fm, fm")
        expect_refused(program, ["--data", folder, "--json", report], "--profile-step")
        expect_refused(program, ["--data", folder / "none", "--profile-step", 3], "none/ml-100k")
        expect_refused(program, ["--shape", "unit", "--weights", folder / "none.json"], "none.json")
        expect_refused(program, ["--shape", "unit", "--weights", ORACLE / "deepfm_small.json"], "param/sparse_arch")
        kept = report.read_bytes()
        expect_refused(program, ["--shape", "unit", "--json", folder / "missing" / "report.json"], "missing")
        expect_refused(program, ["--shape", "unit", "--json", folder], str(folder))
        expect_refused(program, ["--shape", "unit", "--json", "/dev/full"], "/dev/full")
        expect(report.read_bytes() == kept, "the report that was there")
        expect([path.name for path in folder.iterdir()] == ["report.json"], "no other file is left")


if __name__ == "__main__":
    {"01_first_profile": first_profile, "02_own_plugins": own_plugins, "deepfm": deepfm}[sys.argv[1]](sys.argv[2])

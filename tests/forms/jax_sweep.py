#!/usr/bin/env python3
"""jax_sweep.py XLA_INFERGOLDENS WORK_DIR [--only TEXT] [--keep]: the interpreter against JAX on a thousand small programs.

Exports every program of jax_programs.txt as StableHLO text, HLO proto and HLO text, runs each form on the interpreter
and compares with what JAX computes on the CPU. Prints a line per program that differs or is refused, and a summary.
--only takes programs whose "NUMBER SECTION EXPRESSION" holds TEXT; --keep takes exports of an earlier run in WORK_DIR
instead of making them again. Exit 1 when something differs, 77 (skipped) when this Python has no jax.
"""
import ast
import json
import os
import subprocess
import sys
import warnings

import numpy as np

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
try:
    import jax
    import jax.numpy as jnp
    import jax.experimental.sparse
    import jax.scipy as jsp
    import jax.scipy.cluster.vq
    import jax.scipy.interpolate
    import jax.scipy.optimize
    import jax.scipy.sparse.linalg
    import jax.scipy.spatial.transform
    from jax import grad, lax, nn, vmap
except ImportError:
    print("skipped: no jax in this Python")
    sys.exit(77)

FORMS = ("model.mlir", "model.hlo.pb", "model.hlo.txt")
# Relative to the largest magnitude of a result: what a different order of operations may change.
TOLERANCE = {"float64": 1e-11, "complex128": 1e-11, "float32": 3e-5, "complex64": 3e-5, "float16": 4e-3, "bfloat16": 3e-2}


def arguments(wide):
    """Name -> value. 32-bit types, or 64-bit ones when `wide`."""
    random = np.random.RandomState(7)
    normal = lambda *shape: random.standard_normal(shape).astype(np.float64 if wide else np.float32)
    integers = lambda low, high: random.randint(low, high, (3, 4)).astype(np.int64 if wide else np.int32)
    named = {name: normal(3, 4) for name in "fg"}
    named["p"] = np.abs(normal(3, 4)) + np.asarray(0.1, named["f"].dtype)
    named["q"] = random.uniform(0.05, 0.95, (3, 4)).astype(named["f"].dtype)
    named["r"] = random.uniform(-0.95, 0.95, (3, 4)).astype(named["f"].dtype)
    named.update(m=normal(5, 5), t=normal(6, 4), w=normal(4, 6), v=normal(8), bigv=normal(256), a=normal(2, 4, 4))
    named.update(img=normal(2, 8, 8, 3), ker=normal(3, 3, 3, 4))
    named["s"] = named["m"] @ named["m"].T + np.eye(5, dtype=named["m"].dtype)
    named["d"] = named["a"] @ named["a"].transpose(0, 2, 1) + np.eye(4, dtype=named["a"].dtype)
    named["c"] = normal(3, 4) + 1j * normal(3, 4)
    named["z"] = normal(4, 4) + 1j * normal(4, 4)
    named["y"] = named["z"] @ named["z"].conj().T + np.eye(4, dtype=named["z"].dtype)
    named.update(i=integers(-20, 20), j=integers(1, 9), n=integers(0, 4), b=random.rand(3, 4) > 0.5)
    named["u"] = (random.randint(0, 2**31, (3, 4)) * 2 + 1).astype(np.uint64 if wide else np.uint32)
    named["k"] = np.array([0x1234, 0xFEDCBA98], np.uint32)
    named["h"] = named["f"].astype(jnp.bfloat16)
    named["e"] = named["f"].astype(np.float16)
    named["f8"] = named["f"].astype(jnp.float8_e4m3fn)
    named["i4"] = random.randint(-8, 8, (3, 4)).astype(np.int8).astype(jnp.int4)
    named["u4"] = random.randint(0, 8, (3, 4)).astype(np.int8).astype(jnp.uint4)
    return named


def programs():
    """(name, expression, wide) of every top-level tuple element of every line."""
    section = ""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "jax_programs.txt"), encoding="utf-8") as file:
        for line in (row.strip() for row in file):
            if line.startswith("["):
                section = line.strip("[]")
            elif line and not line.startswith("#"):
                body = ast.parse(line, mode="eval").body
                parts = body.elts if isinstance(body, ast.Tuple) else [body]
                for part in parts:
                    yield section, ast.unparse(part)


def raw(value):
    """The array as .npy can hold it: types that numpy lacks as raw bits."""
    value = np.asarray(value)
    if "int" in value.dtype.name and value.dtype.type.__module__ != "numpy":  # narrow integers: a byte each
        return value.astype(np.uint8 if "uint" in value.dtype.name else np.int8)
    if value.dtype.kind in "biufc" and value.dtype.type.__module__ == "numpy":
        return value
    return value.view({1: np.uint8, 2: np.uint16}[value.dtype.itemsize])


def export(expression, wide, folder):
    """Writes forms, inputs and expected values; returns '' or why JAX itself refuses."""
    named = arguments(wide)
    names = sorted({node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)} & named.keys())
    scope = dict(jax=jax, jnp=jnp, jsp=jsp, lax=lax, nn=nn, np=np, grad=grad, vmap=vmap)
    program = jax.jit(eval(f"lambda {', '.join(names)}: ({expression})", scope), keep_unused=True)  # our own file
    values = [jnp.asarray(named[name]) for name in names]
    try:
        lowered = program.lower(*values)
        results = jax.tree.leaves(program(*values))
    except Exception as refusal:  # JAX raises many types
        return " ".join(str(refusal).split())[:160]
    os.makedirs(folder + "/inputs", exist_ok=True)
    os.makedirs(folder + "/expected", exist_ok=True)
    hlo = lowered.compiler_ir("hlo")
    with open(folder + "/model.mlir", "w", encoding="utf-8") as file:
        file.write(lowered.as_text(debug_info=True))
    with open(folder + "/model.hlo.pb", "wb") as file:
        file.write(hlo.as_serialized_hlo_module_proto())
    with open(folder + "/model.hlo.txt", "w", encoding="utf-8") as file:
        file.write(hlo.as_hlo_text(True))
    for number, value in enumerate(values):
        np.save(f"{folder}/inputs/{number:03}.npy", raw(value))
    for number, value in enumerate(results):
        np.save(f"{folder}/expected/{number:03}.npy", raw(value))
    with open(folder + "/types.json", "w", encoding="utf-8") as file:
        json.dump([str(value.dtype) for value in results], file)
    return ""


def difference(actual, expected, dtype):
    if actual.shape != expected.shape:
        return f"shape {actual.shape}, expected {expected.shape}"
    dtype_ = jnp.dtype(dtype)
    if raw(np.zeros(1, dtype_)).dtype != dtype_:  # raw bits
        actual, expected = ((x.view(dtype_) if x.dtype.itemsize == dtype_.itemsize else x) for x in (actual, expected))
    if dtype not in TOLERANCE and not dtype.startswith("float"):
        wrong = np.argwhere(actual.astype(expected.dtype) != expected)
    else:
        wide = np.complex128 if dtype.startswith("complex") else np.float64
        got, want = actual.astype(wide), expected.astype(wide)
        finite = np.abs(want[np.isfinite(want)])
        allowed = TOLERANCE.get(dtype, 0.0) * (finite.max() if finite.size else 0)
        with np.errstate(invalid="ignore"):
            near = (np.abs(got - want) <= allowed) | (got == want) | (np.isnan(got) & np.isnan(want))
        wrong = np.argwhere(~near)
    if not len(wrong):
        return ""
    at = tuple(wrong[0])
    return f"{len(wrong)} of {expected.size} differ, at {list(map(int, at))}: {actual[at]}, expected {expected[at]}"


def check(tool, folder, form):
    """'' or what is wrong with one form."""
    out = f"{folder}/out_{form}"
    try:
        run = subprocess.run([tool, "--hlo-module", f"{folder}/{form}", "--inputs", folder + "/inputs", "--output-dir", out],
                             capture_output=True, text=True, timeout=120, cwd=folder)
    except subprocess.TimeoutExpired:
        return "timeout"
    if run.returncode != 0:
        lines = [line for line in (run.stderr + run.stdout).splitlines() if line.strip()]
        lines = [line for line in lines if "NCC_" in line] + lines + ["no message"]
        return f"exit {run.returncode}: {lines[0]}"
    with open(folder + "/types.json", encoding="utf-8") as file:
        types = json.load(file)
    for number, dtype in enumerate(types):
        actual = np.load(f"{out}/{number:03}.npy")
        expected = np.load(f"{folder}/expected/{number:03}.npy")
        wrong = difference(actual, expected, dtype)
        if wrong:
            return f"result {number} ({dtype}): {wrong}"
    return ""


def main():
    warnings.simplefilter("ignore")
    tool, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    passed = failed = refused = 0
    for number, (section, expression) in enumerate(programs()):
        if only not in f"{number} {section} {expression}":
            continue
        folder = f"{work}/{number:04}"
        wide = section == "x64"
        if not ("--keep" in sys.argv and os.path.exists(folder + "/types.json")):
            jax.config.update("jax_enable_x64", wide)
            why = export(expression, wide, folder)
            if why:
                refused += 1
                print(f"JAX refuses {number} {section}: {expression}: {why}", flush=True)
                continue
        reports = {form: check(tool, folder, form) for form in FORMS}
        if not any(reports.values()):
            passed += 1
            continue
        failed += 1
        print(f"FAIL {number} {section}: {expression}")
        for text in sorted(set(reports.values()) - {""}):
            print(f"    {', '.join(form for form in FORMS if reports[form] == text)}: {text}", flush=True)
    print(f"{passed} programs agree in all forms, {failed} do not; JAX itself refuses {refused}")
    sys.exit(1 if failed else 0)


main()

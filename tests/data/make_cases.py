#!/usr/bin/env python3
"""Writes the model cases of this folder. Needs jax (CPU); the answers are XLA:CPU's.

usage: make_cases.py [CASE...]        run in tests/data

One folder a case: model.mlir (StableHLO text with locations), model.hlo.pb or model.hlo (the same program as binary or text
HLO; which one a case has is a column of CASES), inputs/NNN.npy one a parameter, expected/NNN.npy one a result, meta.json
(rtol, atol and what the arrays are). bfloat16 arrays are stored as their bits in uint16.
"""
import json
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np

# Locations name files relative to the repository, on whatever machine the cases are made.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/(?=tests/data/)")


def dense(x, w, b):
    return x @ w + b


def matmul_bias_relu(x, w, b):
    return jax.nn.relu(dense(x, w, b))


def mlp(x, w1, b1, w2, b2):
    return jax.nn.softmax(dense(jax.nn.relu(dense(x, w1, b1)), w2, b2))


def layer_norm(x, gain, bias):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * gain + bias


def attention(x, w_qkv, w_out, heads):
    length, width = x.shape
    q, k, v = jnp.split(x @ w_qkv, 3, axis=-1)
    q, k, v = (t.reshape(length, heads, width // heads).transpose(1, 0, 2) for t in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(width // heads)
    mask = jnp.tril(jnp.ones((length, length), bool))
    probs = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    return (probs @ v).transpose(1, 0, 2).reshape(length, width) @ w_out


def gpt_block(tokens, table, g1, b1, w_qkv, w_out, g2, b2, w_up, w_down):
    """A one-layer decoder with tied embeddings: the smallest thing that is still a language model."""
    x = table[tokens]
    x = x + attention(layer_norm(x, g1, b1), w_qkv, w_out, heads=4)
    x = x + jax.nn.gelu(layer_norm(x, g2, b2) @ w_up) @ w_down
    return x @ table.T


def cnn(image, kernel, bias, w):
    x = jax.lax.conv_general_dilated(image, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = jax.nn.relu(x + bias)
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.mean((1, 2)) @ w


def int_ops(a, b):
    return a * b + 7, jnp.bitwise_xor(a, b), jnp.maximum(a, -b), a // jnp.where(b == 0, 1, b)


def gather_scatter(x, indices, updates):
    return jnp.take(x, indices, axis=0), x.at[indices].add(updates), jnp.sort(x, axis=1), jnp.cumsum(x, axis=0)


def index_special_values(x, half, words, indices, rows):
    """Selections past the size of a select and a fold, on data with NaN, infinities and -0."""
    start = indices[0] * 7
    window = jax.lax.dynamic_update_slice(x, rows, (start, 0))
    summed = x.at[indices].add(rows, mode="drop", unique_indices=False)
    return (x[indices], 1 / half[indices], words[indices], jax.lax.dynamic_slice(x, (start, 1), (400, 40)), window,
            x.at[indices].set(rows, mode="drop", unique_indices=True), summed)


def while_loop(x, n):
    return jax.lax.while_loop(lambda s: s[1] < n, lambda s: (s[0] * 0.5 + 1, s[1] + 1), (x, jnp.int32(0)))[0]


def transpose_reduce(x):
    return x.T, x.sum(0), x.max(1), x.reshape(-1)[::3]


def f32(*shape, scale=1.0):
    return lambda r: (r.standard_normal(shape) * scale).astype(np.float32)


def ints(low, high, *shape):
    return lambda r: r.integers(low, high, shape).astype(np.int32)


def bf16(*shape):
    return lambda r: jnp.asarray(r.standard_normal(shape), jnp.bfloat16)


def special(dtype, *shape):
    """Normal values, one in eight of them NaN, an infinity or a zero of either sign."""
    def make(r):
        values = r.standard_normal(shape).astype(np.float32)
        values[r.random(shape) < 0.125] = 0
        places = np.argwhere(values == 0)
        for place, value in zip(places, np.resize([np.nan, np.inf, -np.inf, -0.0, 0.0], len(places))):
            values[tuple(place)] = value
        return np.asarray(jnp.asarray(values, dtype))
    return make


# name: function, inputs, second form of the model ("pb" or "text"), rtol, atol
CASES = {
    "matmul_bias_relu": (matmul_bias_relu, [f32(40, 72), f32(72, 24, scale=0.12), f32(24)], "text", 1e-5, 1e-5),
    "matmul_bf16": (lambda a, b: a @ b, [bf16(32, 64), bf16(64, 48)], "text", 8e-3, 1e-2),
    "mlp": (mlp, [f32(16, 64), f32(64, 96, scale=0.12), f32(96), f32(96, 10, scale=0.1), f32(10)], "pb", 1e-4, 1e-5),
    "softmax": (jax.nn.softmax, [f32(50, 33, scale=4.0)], "text", 1e-5, 1e-6),
    "layer_norm": (layer_norm, [f32(20, 96), f32(96), f32(96)], "text", 1e-4, 1e-5),
    "gpt_block": (gpt_block, [ints(0, 128, 32), f32(128, 64, scale=0.1), f32(64), f32(64),
                              f32(64, 192, scale=0.12), f32(64, 64, scale=0.12), f32(64), f32(64),
                              f32(64, 256, scale=0.12), f32(256, 64, scale=0.06)], "pb", 1e-4, 1e-4),
    "cnn": (cnn, [f32(2, 16, 16, 3), f32(3, 3, 3, 8, scale=0.2), f32(8), f32(8, 10)], "pb", 1e-4, 1e-5),
    "int_ops": (int_ops, [ints(-2**30, 2**30, 6, 37), ints(-1000, 1000, 6, 37)], "text", 0.0, 0.0),
    "gather_scatter": (gather_scatter, [f32(12, 9), ints(0, 12, 5), f32(5, 9)], "text", 1e-5, 1e-5),
    "index_special_values": (index_special_values, [
        special(jnp.float32, 500, 48), special(jnp.bfloat16, 500, 48), ints(-2**31, 2**31 - 1, 500, 48),
        lambda r: r.permutation(500)[:64].astype(np.int32), special(jnp.float32, 64, 48)], "pb", 1e-6, 1e-6),
    "while_loop": (while_loop, [f32(4, 8), ints(5, 6)], "text", 1e-6, 1e-6),
    "transpose_reduce": (transpose_reduce, [f32(36, 20)], "text", 1e-5, 1e-5),
}


def stored(array):
    array = np.asarray(array)
    return array.view(np.uint16) if array.dtype == jnp.bfloat16 else array


def facts(array):
    return {"shape": list(array.shape), "dtype": str(array.dtype)}


def write_arrays(folder, arrays):
    os.makedirs(folder, exist_ok=True)
    for i, array in enumerate(arrays):
        np.save(os.path.join(folder, f"{i:03d}.npy"), stored(array))


def write_case(name, function, makers, form, rtol, atol):
    random = np.random.default_rng(sum(name.encode()))
    inputs = [make(random) for make in makers]
    lowered = jax.jit(function).lower(*inputs)
    outputs = jax.tree_util.tree_leaves(jax.jit(function)(*inputs))
    os.makedirs(name, exist_ok=True)
    with open(f"{name}/model.mlir", "w") as out:
        out.write(lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True))
    hlo = lowered.compiler_ir("hlo")
    if form == "pb":
        with open(f"{name}/model.hlo.pb", "wb") as out:
            out.write(hlo.as_serialized_hlo_module_proto())
    else:
        with open(f"{name}/model.hlo", "w") as out:
            out.write(hlo.as_hlo_text(True))
    write_arrays(f"{name}/inputs", inputs)
    write_arrays(f"{name}/expected", outputs)
    meta = {"name": name, "rtol": rtol, "atol": atol, "inputs": [facts(x) for x in inputs],
            "outputs": [facts(x) for x in outputs], "source": f"jax {jax.__version__}, XLA:CPU"}
    with open(f"{name}/meta.json", "w") as out:
        json.dump(meta, out, indent=1)
        out.write("\n")


for case in sys.argv[1:] or CASES:
    write_case(case, *CASES[case])

#!/usr/bin/env python3
"""measure.py HLO_OPT [--megabytes N] [--folder DIR]: time and memory to load a module of large constants.

Writes one model (ENTRY: the sum of constants of 64 MiB each) as an HLO proto with f32, bf16 and s8 values and as
StableHLO with dense_resource blobs, loads each with `HLO_OPT --no-passes --emit=stats`, and prints seconds, peak
resident memory and its ratio to the constants. Nothing but the standard library is needed.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
CHUNK = 64 * MIB
TYPES = {  # PrimitiveType, LiteralProto field, bytes per element, StableHLO name
    "f32": (11, 8, 4, "f32"),
    "bf16": (16, 13, 2, "bf16"),
    "s8": (2, 15, 1, "i8"),
}


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, payload):
    return varint(field << 3 | 2) + varint(len(payload)) + payload


def shape(kind, elements):
    return number(2, TYPES[kind][0]) + message(3, varint(elements))


def write_proto(path, kind, constants):
    """HloModuleProto with one computation; the payloads are written straight to the file."""
    _, field, width, _ = TYPES[kind]
    elements = CHUNK // width
    # The same finite pattern everywhere: sums stay finite, pages are real.
    block = os.urandom(MIB) if kind == "s8" else bytes([0, 0, 0x80, 0x3F]) * (MIB // 4)
    instructions = []  # (bytes before the payload, has payload, bytes behind)
    result = shape(kind, elements)
    for i in range(constants):
        tag = varint(field << 3 | 2) + varint(CHUNK)
        literal_head = message(1, result) + tag
        literal_size = len(literal_head) + CHUNK
        body = message(1, b"c%d" % i) + message(2, b"constant") + message(3, result) + number(35, i + 1)
        inst_head = body + varint(8 << 3 | 2) + varint(literal_size) + literal_head
        instructions.append((inst_head, CHUNK))
    last = 1
    adds = []
    for i in range(1, constants):
        name, ident = b"s%d" % i, constants + i
        adds.append(message(1, name) + message(2, b"add") + message(3, result) + number(35, ident) +
                    message(36, varint(last) + varint(i + 1)))
        last = ident
    tail = b"".join(message(2, add) for add in adds) + number(5, 1) + number(6, last) + message(1, b"main")
    tail += message(4, message(2, result))
    size = len(tail)
    for inst_head, payload in instructions:
        inner = len(inst_head) + payload
        size += len(varint(2 << 3 | 2)) + len(varint(inner)) + inner
    with open(path, "wb") as file:
        file.write(message(1, b"large") + number(5, 1) + number(6, 1) + message(4, message(2, result)))
        file.write(varint(3 << 3 | 2) + varint(size))
        for inst_head, payload in instructions:
            file.write(varint(2 << 3 | 2) + varint(len(inst_head) + payload) + inst_head)
            for _ in range(payload // len(block)):
                file.write(block)
        file.write(tail)


def write_stablehlo(path, constants):
    elements = CHUNK // 4
    tensor = f"tensor<{elements}xf32>"
    block = ("0000803F" * (MIB // 8)).encode()
    with open(path, "wb") as file:
        lines = [f"func.func @main() -> {tensor} {{"]
        lines += [f"  %c{i} = stablehlo.constant dense_resource<blob{i}> : {tensor}" for i in range(constants)]
        lines += [f"  %s{i} = stablehlo.add %{'s' if i > 1 else 'c'}{i - 1}, %c{i} : {tensor}" for i in range(1, constants)]
        last = f"%s{constants - 1}" if constants > 1 else "%c0"
        lines += [f"  return {last} : {tensor}", "}", "{-# dialect_resources: { builtin: {"]
        file.write("\n".join(lines).encode())
        for i in range(constants):
            file.write(f'{"," if i else ""}\nblob{i}: "0x04000000'.encode())
            for _ in range(2 * CHUNK // len(block)):
                file.write(block)
            file.write(b'"')
        file.write(b"\n} } #-}\n")


def measure(tool, path, constant_bytes):
    begin = time.monotonic()
    child = subprocess.Popen([tool, "--no-passes", "--emit=stats", "--input", path], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - begin
    if status != 0:
        print(f"{os.path.basename(path)}: exit status {status}")
        return False
    peak = usage.ru_maxrss * 1024
    print(f"{os.path.basename(path):<18} {constant_bytes // MIB:>6} MiB of constants  {seconds:6.2f} s  "
          f"peak {peak // MIB:>6} MiB  ratio {peak / constant_bytes:.2f}")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hlo_opt")
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--folder", default=None, help="where the files go; they are removed")
    options = parser.parse_args()
    constants = max(1, options.megabytes * MIB // CHUNK)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    good = True
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for kind in TYPES:
            path = os.path.join(folder, f"large_{kind}.pb")
            write_proto(path, kind, constants)
            good &= measure(options.hlo_opt, path, constants * CHUNK)
            os.remove(path)
        path = os.path.join(folder, "large.mlir")
        write_stablehlo(path, constants)
        good &= measure(options.hlo_opt, path, constants * CHUNK)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

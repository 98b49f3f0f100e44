#!/usr/bin/env python3
"""xla_reads.py HLO_FORMS FOLDER...: XLA reads back what our writers write.

Runs hlo_forms --write over the folders and gives every proto and every text to jaxlib's HLO reader. Both forms of a
module must be accepted and must print the same there. Needs Python with jaxlib (pip install jaxlib); says so and
exits 77 (skipped) when it is not there, 1 when XLA refuses something.
"""
import os
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
try:
    from jaxlib import _hlo as hlo
except ImportError:
    print("skipped: no jaxlib in this Python")
    sys.exit(77)


def one_line(error):
    return " ".join(str(error).split())[:300]


def canonical(module):
    """XLA's own print without the numbers that it gives to stack frames, and without the counts of devices, which it
    takes from text alone."""
    return re.sub(r" ?stack_frame_id=\d+|, (num_partitions|replica_count)=\d+", "", module.to_string())


def check(stem):
    """'' or what XLA says against the module."""
    try:
        with open(stem + ".hlo", encoding="utf-8") as file:
            from_text = hlo.hlo_module_from_text(file.read())
    except Exception as error:  # jaxlib raises its own types
        return "text: " + one_line(error)
    try:
        with open(stem + ".pb", "rb") as file:
            from_proto = hlo.HloModule.from_serialized_hlo_module_proto(file.read())
    except Exception as error:
        return "proto: " + one_line(error)
    texts = [canonical(from_text).split("\n"), canonical(from_proto).split("\n")]
    for left, right in zip(*texts):
        if left != right:
            return f"text and proto differ:\n  {left[:400]}\n  {right[:400]}"
    return "" if len(texts[0]) == len(texts[1]) else "text and proto differ in length"


def main():
    # XLA prints a stack trace for each refusal; the message is in the exception.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    forms, folders = sys.argv[1], sys.argv[2:]
    refused = read = 0
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([forms, "--write", out, *folders], stdout=subprocess.DEVNULL, check=False)
        with open(os.path.join(out, "names.txt"), encoding="utf-8") as file:
            names = [line.rstrip("\n").split(" ", 1) for line in file]
        for number, name in names:
            why = check(os.path.join(out, number))
            read += 1
            if why:
                refused += 1
                print(f"{name}: {why}")
    print(f"{read} modules, {refused} refused or different")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())

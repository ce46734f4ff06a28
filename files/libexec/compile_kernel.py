"""Builds a small kernel as the engine builds its own, and runs it where there is a GPU.

A start that cannot compile dies after minutes of loading (vllm-project/vllm#49497), so this asks
first: nvcc, ninja and g++ as this user finds them in this environment, headers that belong to the
compiler (CCCL refuses others), and libcudart where FlashInfer links it.
Usage: compile_kernel.py ARCHITECTURE KEY [run]
Prints one JSON line with KEY in it; one line on standard error and exit status 1 otherwise.
"""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KERNEL = r"""
#include <cuda/std/cstddef>
#include <cuda_runtime.h>

__global__ void twice(float *values) { values[threadIdx.x] *= 2.0f; }

extern "C" const char *check() {
  float values[32], *device = nullptr;
  for (int i = 0; i < 32; ++i) values[i] = i;
  cudaError_t error = cudaMalloc(&device, sizeof values);
  if (error == cudaSuccess) {
    cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice);
    twice<<<1, 32>>>(device);
    error = cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost);
    cudaFree(device);
  }
  if (error != cudaSuccess) return cudaGetErrorString(error);
  for (int i = 0; i < 32; ++i)
    if (values[i] != 2.0f * i) return "the kernel computes wrongly";
  return "";
}
"""
RULES = """\
rule compile
  command = {home}/bin/nvcc -gencode arch={compute},code={code} -O2 -Xcompiler -fPIC -c $in -o $out
rule link
  command = g++ -shared $in -L{home}/lib64 -Wl,-rpath,{home}/lib64 -lcudart -o $out
build kernel.o: compile kernel.cu
build kernel.so: link kernel.o
default kernel.so
"""


class Unbuildable(Exception):
    """Why no kernel can be built or run here, with the fix."""


def cuda_home() -> str:
    home = os.environ.get("CUDA_HOME", "")
    if not home.startswith("/") or ":" in home:
        raise Unbuildable(f"CUDA_HOME is {home!r}: it must be one absolute folder")
    if not os.access(f"{home}/bin/nvcc", os.X_OK):
        raise Unbuildable(f"no nvcc in {home}/bin: set cuda_source and deploy")
    for tool, package in (("ninja", "ninja, in the engine's lock"), ("g++", "the package g++")):
        if shutil.which(tool) is None:
            raise Unbuildable(f"no {tool} on PATH ({os.environ.get('PATH')}): install {package}")
    return home


def build(home: str, architecture: str, folder: Path) -> None:
    (folder / "kernel.cu").write_text(KERNEL)
    compute = architecture.replace("sm_", "compute_")
    rules = RULES.format(home=home, compute=compute, code=architecture)
    (folder / "build.ninja").write_text(rules)
    done = subprocess.run(["ninja", "-C", folder], capture_output=True, text=True, timeout=300)
    if done.returncode:
        said = done.stdout + done.stderr
        lines = [one for one in said.splitlines() if re.search(r"error|fatal|cannot find", one)]
        raise Unbuildable(f"{architecture} cannot be built: {(lines or [said[-300:]])[0].strip()}")


def run(library: Path) -> None:
    check = ctypes.CDLL(str(library)).check
    check.restype = ctypes.c_char_p
    wrong = check().decode()
    if wrong:
        raise Unbuildable(f"the kernel was built and does not run: {wrong}")


def main(architecture: str, key: str, *how: str) -> int:
    start = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="glmstead-kernel-"))
    try:
        home = cuda_home()
        said = subprocess.run([f"{home}/bin/nvcc", "--version"], capture_output=True, text=True)
        release = re.search(r"release (\d+\.\d+)", said.stdout)
        build(home, architecture, folder)
        if "run" in how:
            run(folder / "kernel.so")
    except (Unbuildable, OSError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    result = {
        "key": key,
        "nvcc": release[1] if release else "unknown",
        "architecture": architecture,
        "ran": "run" in how,
        "seconds": round(time.monotonic() - start, 1),
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

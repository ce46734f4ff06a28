"""Time of the verdicts of ten patches in one environment: the work on the host, and the whole call.

Usage: bench/patch_probe.py [PYTHON]   (default: the sources of vLLM 0.28.0, as the tests fetch them)
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

from glmstead.patching.catalogue import load_catalogue
from glmstead.patching.program import program_arguments
from glmstead.patching.request import probe_request
from tests.wheels.released import site_packages

RUNS = 15
LIMIT_MS = 150.0
_CLOCK = "import time; begin = time.process_time()\n"
_REPORT = "; print((time.process_time() - begin) * 1000, file=sys.stderr); sys.exit(code)"


def measure(python: str, paths: list[str] | None) -> tuple[list[float], list[float]]:
    """Milliseconds of CPU in the interpreter, and by the clock in all, for each run."""
    tags = list(load_catalogue())[:10]
    request = {**probe_request(load_catalogue(), tags), "paths": paths}
    option, loader, *rest = program_arguments(request)
    timed = _CLOCK + loader.replace("sys.exit(", "code = (").rstrip() + _REPORT
    work, whole = [], []
    for _ in range(RUNS):
        begin = time.perf_counter()
        run = subprocess.run(
            [python, option, timed, *rest], capture_output=True, text=True, check=True
        )
        whole.append((time.perf_counter() - begin) * 1000)
        work.append(float(run.stderr.split()[-1]))
    return work, whole


def main() -> int:
    """Print medians; 1 when the work takes longer than it may."""
    if len(sys.argv) > 1:
        python, paths = sys.argv[1], None
    else:
        wheels = (("vllm", "0.28.0"), ("flashinfer-python", "0.6.16.post3"))
        python, paths = sys.executable, [str(site_packages(*one)) for one in wheels]
    work, whole = measure(python, paths)
    print(f"{Path(python).name}, ten patches, {RUNS} runs")
    for name, times in (("CPU on the host", work), ("whole call by the clock", whole)):
        print(f"{name:>25}: median {statistics.median(times):5.1f} ms, best {min(times):5.1f} ms")
    return int(statistics.median(work) > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())

"""Run the test suite with the kernels that other processors use.

    python tools/test_machines.py                        # every family, one and two threads
    python tools/test_machines.py --list                 # the families that this processor supports
    python tools/test_machines.py --other --threads 1    # the oldest family but the processor's own
    python tools/test_machines.py --families Haswell tests/linalg/test_hats.py

OpenBLAS chooses its kernels, and numpy its loops, according to the processor. Sums are then rounded
in another order. A result or a test that depends on this order passes on one machine and fails on
another, so the suite runs with each family of kernels. Unknown arguments are passed to pytest.
"""

import argparse
import json
import os
import subprocess
import sys
import time

# Families of OpenBLAS from old to new, with the numpy loops that such a processor cannot run.
# Families that numpy's own baseline excludes are left out.
FAMILIES = {
    "Nehalem": ("X86_V3", "AVX2", "FMA3", "X86_V4", "AVX512"),
    "Sandybridge": ("X86_V3", "AVX2", "FMA3", "X86_V4", "AVX512"),
    "Haswell": ("X86_V4", "AVX512"),
    "SkylakeX": (),
    "ARMV8": ("ASIMDDP", "ASIMDFHM", "SVE"),
    "NEOVERSEN1": ("SVE",),
    "NEOVERSEV1": (),
}

PROBE = """
import json, warnings
warnings.simplefilter("ignore")
import numpy, scipy.linalg, threadpoolctl
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
numpy.linalg.eigh(numpy.eye(64) @ numpy.ones((64, 64)))
pools = threadpoolctl.threadpool_info()
print(json.dumps({
    "kernels": sorted({pool["architecture"] for pool in pools if "architecture" in pool}),
    "loops": [name for name in __cpu_dispatch__ if __cpu_features__.get(name)],
}))
"""


def probe(family: str | None = None) -> dict[str, list[str]]:
    """Return the BLAS kernels and the numpy loops that a new process uses, or empty lists."""
    environment = {**os.environ, **({"OPENBLAS_CORETYPE": family} if family else {})}
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:  # kernels that this processor cannot run end the process
        return {"kernels": [], "loops": []}
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def supported() -> dict[str, dict[str, str]]:
    """Return the environment of each family whose kernels this processor really runs."""
    loops = probe()["loops"]
    found = {}
    for family, absent in FAMILIES.items():
        if probe(family)["kernels"] == [family]:
            disabled = [name for name in loops if name.startswith(absent)] if absent else []
            found[family] = {
                "OPENBLAS_CORETYPE": family,
                "NPY_DISABLE_CPU_FEATURES": " ".join(disabled),
            }
    return found


def run_suite(settings: dict[str, str], threads: int, options: list[str]) -> int:
    """Run pytest with these settings; return its exit code."""
    environment = {**os.environ, **settings, "OPENBLAS_NUM_THREADS": str(threads)}
    # Two threads in each of two processes would wait for each other on two cores.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    workers = max(1, (cores or 1) // threads)
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "--dist", "worksteal"]
    return subprocess.run([*command, *options], env=environment, check=False).returncode


def main() -> int:
    """Run the suite under each chosen family; return 1 if any run fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--families", help="names separated by commas (default: all supported)")
    parser.add_argument("--other", action="store_true", help="only the oldest other family")
    parser.add_argument("--threads", default="1,2", help="BLAS threads (default 1,2)")
    parser.add_argument("--list", action="store_true", help="list the supported families and stop")
    arguments, options = parser.parse_known_args()

    families, own = supported(), probe()["kernels"]
    if arguments.list:
        print("\n".join(f"{name}{' (own)' * (name in own)}" for name in families))
        return 0
    if arguments.families:
        chosen = arguments.families.split(",")
    elif arguments.other:
        chosen = [name for name in families if name not in own][:1]
    else:
        chosen = list(families)
    missing = [name for name in chosen if name not in families]
    if not families and arguments.other:
        print("Nothing was tested: this processor supports no family of kernels that is known.")
        return 0
    if missing or not chosen:
        wanted = ", ".join(missing) or "another family"
        supports = ", ".join(families) or "no known family"
        print(f"Nothing was tested: this processor supports {supports}, not {wanted}.")
        return 2
    failed = []
    for name in chosen:
        for threads in map(int, arguments.threads.split(",")):
            print(f"== {name}, {threads} thread(s): {families[name]}", flush=True)
            start = time.perf_counter()
            if run_suite(families[name], threads, options):
                failed.append(f"{name} with {threads} thread(s)")
            print(f"== {time.perf_counter() - start:.0f} s", flush=True)
    print(f"failed: {', '.join(failed)}" if failed else "every family passes")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())

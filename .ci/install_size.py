"""Megabytes and seconds of an install: plain, and with each extra.     python .ci/install_size.py WHEEL [EXTRA ...]

Every environment is new and thrown away; packages come from where pip is configured to get them, or its cache.
An extra that cannot be installed is listed with the reason. Torch is left out unless it is named: it takes gigabytes.
"""

import subprocess
import sys
import tempfile
import time
import zipfile
from email.parser import HeaderParser
from pathlib import Path

_LEFT_OUT = ("torch",)


def extras_of(wheel: Path) -> list[str]:
    """What a wheel offers beside itself."""
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(files.read(name).decode())
    return metadata.get_all("Provides-Extra") or []


def measure(what: str) -> tuple[float, float, float]:
    """Megabytes, seconds by the clock, and seconds that a first answer takes."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder, "bin", "python")
        packages = Path(
            subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True).strip()
        )
        before = size_of(packages)
        pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        began = time.perf_counter()
        subprocess.run([*pip, what], check=True, capture_output=True, text=True)
        took = time.perf_counter() - began
        program = "import hoplite; assert hoplite.open().run('RETURN 1 AS one').data() == [{'one': 1}]"
        subprocess.run([python, "-I", "-c", program], check=True, cwd=folder)
        began = time.perf_counter()
        subprocess.run([python, "-I", "-c", program], check=True, cwd=folder)
        return (size_of(packages) - before) / 1e6, took, time.perf_counter() - began


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def main() -> int:
    wheel = Path(sys.argv[1])
    offered, wanted = extras_of(wheel), sys.argv[2:]
    unknown = [extra for extra in wanted if extra not in offered]
    if unknown:  # pip would only warn, and install without them
        print(f"The wheel has no extra {', '.join(unknown)}; it has {', '.join(offered)}")
        return 1
    failed = 0
    print(f"{'install':<12}{'MB':>8}{'seconds':>10}{'first answer, s':>18}")
    for extra in ("", *(wanted or [extra for extra in offered if extra not in _LEFT_OUT])):
        try:
            megabytes, seconds, answer = measure(f"{wheel}[{extra}]" if extra else str(wheel))
        except subprocess.CalledProcessError as error:
            failed += not extra
            reason = (error.stderr or "").strip().splitlines()
            print(f"{extra or 'plain':<12}  could not be installed: {reason[-1] if reason else error}", flush=True)
            continue
        print(f"{extra or 'plain':<12}{megabytes:>8.0f}{seconds:>10.0f}{answer:>18.2f}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

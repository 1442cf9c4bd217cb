# SPDX-License-Identifier: Apache-2.0
"""What a figure was measured on, and what the machine remembers of files."""

import os
import pathlib
import platform


def describe():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
    cores = sorted(os.sched_getaffinity(0))
    return f"{model}, {os.cpu_count()} cores, pinned to {cores}, load {os.getloadavg()[0]:.1f}, {platform.release()}"


def read_files(folder):
    """The system has the files in its memory, as far as there is room: they may have been forgotten."""
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                while file.read(1 << 20):
                    pass


def forget_files(folder):
    """The system drops the pages of files that nobody writes any more: the next reader reads the disk."""
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)

# SPDX-License-Identifier: Apache-2.0
"""What a figure was measured on."""

import os
import platform


def describe():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
    cores = sorted(os.sched_getaffinity(0))
    return f"{model}, {os.cpu_count()} cores, pinned to {cores}, load {os.getloadavg()[0]:.1f}, {platform.release()}"

# SPDX-License-Identifier: Apache-2.0
"""Where a JDK is that has the foreign function interface, how Maven is called, and the native library where the jar takes it from."""

import os
import pathlib
import platform
import re
import shutil
import subprocess

OLDEST = 22


def find():
    """The home of the first JDK that is new enough, or None: JAVA_HOME, javac on the path, /usr/lib/jvm."""
    places = [pathlib.Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    if javac := shutil.which("javac"):
        places.append(pathlib.Path(javac).resolve().parents[1])
    places += sorted(pathlib.Path("/usr/lib/jvm").glob("*"), reverse=True)
    return next((place for place in places if version(place) >= OLDEST), None)


def version(home):
    """22 for 22.0.2; 0 for what is no JDK."""
    release = home / "release"
    if not release.is_file() or not (home / "bin/javac").exists():
        return 0
    found = re.search(r'^JAVA_VERSION="(\d+)', release.read_text(encoding="utf-8"), re.MULTILINE)
    return int(found[1]) if found else 0


def maven(*arguments):
    return ["mvn", "-B", "-q", "-ntp", "-f", str(pathlib.Path(__file__).with_name("pom.xml")), *arguments]


def environment(home):
    return {**os.environ, "JAVA_HOME": str(home), "MAVEN_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


def natives(prefix, folder):
    """Puts the library of an install prefix to where the jar takes it from, without what is for debuggers alone."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    target = folder / "native" / f"{platform.system().lower()}-{machine}"
    target.mkdir(parents=True, exist_ok=True)
    library = next(prefix.glob("**/libpigment.so"))
    subprocess.run(["strip", "--strip-unneeded", "-o", target / "libpigment.so", library], check=True)

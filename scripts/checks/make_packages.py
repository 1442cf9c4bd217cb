# SPDX-License-Identifier: Apache-2.0
"""Packs the release build for Debian, Python, Rust and Java, into build/packages: see scripts/packages.

Each maker returns the paths of what it made; a tool that a language needs and that is not there is a Missing.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import bindings
import build
from report import StageError

FOLDER = build.ROOT / "build/packages"
CARGO = (1, 90)


class Missing(Exception):
    """No tool for this language here."""


def version():
    text = (build.ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^project\(pigment VERSION (\S+)", text, re.MULTILINE)[1]


def make_debs():
    """debhelper works where debian/ lies and around it: on a copy, below build/."""
    work = FOLDER / f"pigment-{version()}"
    empty(work)
    remove("*.deb", "*.changes", "*.buildinfo")
    shutil.copytree(build.ROOT / "packages/debian", work / "debian")
    build.call(
        ["env", "-C", str(work), "dpkg-buildpackage", "--build=binary", "--no-sign"],
        env={**os.environ, "PIGMENT_BUILD": str(build.build_directory("release"))})
    return sorted(FOLDER.glob("*.deb"))


def make_wheel():
    maker = language_module("python", "make_wheel")
    remove("*.whl")
    scratch = scratch_of("python")
    try:
        maker.build(maker.environment(scratch / "venv"), bindings.install_prefix(), scratch / "build", FOLDER)
    except maker.Failed as failure:
        raise StageError(str(failure)) from None
    return sorted(FOLDER.glob("*.whl"))


def make_crates():
    """cargo compiles each crate from its packaged form, pigment with the packaged pigment-sys."""
    cargo = find_cargo()
    remove("*.crate")
    scratch = scratch_of("rust")
    environment = {**bindings.environment(scratch), "CARGO_TARGET_DIR": str(scratch / "target")}
    manifest = ["--locked", "--manifest-path", str(build.ROOT / "bindings/rust/Cargo.toml")]
    build.call([cargo, "fetch", "--quiet", *manifest], env=environment)  # asks the network for what is missing alone
    build.call([cargo, "package", "--quiet", "--offline", "--workspace", "--allow-dirty", *manifest], env=environment)
    made = [scratch / f"target/package/{name}-{version()}.crate" for name in ("pigment-sys", "pigment")]
    return [pathlib.Path(shutil.copy(path, FOLDER)) for path in made]


def find_cargo():
    cargo = shutil.which("cargo") or shutil.which(os.path.expanduser("~/.cargo/bin/cargo"))
    if cargo is None:
        raise Missing("no cargo on the path or in ~/.cargo/bin")
    said = subprocess.run([cargo, "--version"], capture_output=True, text=True).stdout
    match = re.match(r"cargo (\d+)\.(\d+)", said)
    if not match or (int(match[1]), int(match[2])) < CARGO:
        raise Missing(f"cargo {CARGO[0]}.{CARGO[1]} or later packs a workspace, {cargo} is {said.strip() or 'broken'}")
    return cargo


def make_jar():
    jdk = language_module("java", "jdk")
    home = jdk.find()
    if home is None:
        raise Missing(f"no JDK {jdk.OLDEST} or later in JAVA_HOME, on the path or in /usr/lib/jvm")
    build.call(["scripts/install-deps", "java"])
    remove("*.jar")
    scratch = scratch_of("java")
    jdk.natives(bindings.install_prefix(), scratch / "natives")
    build.call(jdk.maven("package", "-DskipTests", f"-Dpigment.output={scratch}"), env=jdk.environment(home))
    return [pathlib.Path(shutil.copy(scratch / f"target/pigment-{version()}.jar", FOLDER))]


MAKERS = {"debs": make_debs, "wheel": make_wheel, "crates": make_crates, "jar": make_jar}


def make(kind):
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = MAKERS[kind]()
    if not made:
        raise StageError(f"nothing was made for {kind}")
    return made


def language_module(language, name):
    """A module that lies beside a binding and is used by its check too."""
    folder = str(build.ROOT / "bindings" / language)
    if folder not in sys.path:
        sys.path.append(folder)
    return __import__(name)


def scratch_of(language):
    """What the binding's stage keeps between runs spares most of the work here."""
    scratch = build.ROOT / "build/bindings" / language
    scratch.mkdir(parents=True, exist_ok=True)
    return scratch


def empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def remove(*patterns):
    for pattern in patterns:
        for path in FOLDER.glob(pattern):
            path.unlink()


def main():
    kinds = sys.argv[1:] or ["debs"]
    if unknown := set(kinds) - set(MAKERS):
        print(f"packages: no kind {', '.join(sorted(unknown))}; there are: {' '.join(MAKERS)}", file=sys.stderr)
        return 2
    try:
        build.build("release", ["pigment", "pigment_static", "pigment_tool", "pigment_manual", "pigment_pg", "pigment_sql"])
        for kind in kinds:
            for path in make(kind):
                print(path.relative_to(build.ROOT))
    except (Missing, StageError) as error:
        print(f"packages: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

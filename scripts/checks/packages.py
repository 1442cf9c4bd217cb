# SPDX-License-Identifier: Apache-2.0
"""Makes the packages of the release build, looks at them and uses them from where they were unpacked."""

import os
import pathlib
import subprocess
import tempfile

import bindings
import build
import make_packages
import postgres

TIMEOUT_S = 300
CONSUMERS = build.ROOT / "tests/packages"
JACKSON = "com/fasterxml/jackson/core/jackson-core"


def run(report):
    build.call(["scripts/install-deps", "packages"])
    with tempfile.TemporaryDirectory(prefix="pigment-packages.") as name:
        folder = pathlib.Path(name)
        use_debs(report, folder / "root")
        for language, use in (("wheel", use_wheel), ("crates", use_crates), ("jar", use_jar)):
            try:
                made = make_packages.make(language)
            except make_packages.Missing as missing:
                report.skipped(language, str(missing))
                continue
            (folder / language).mkdir()
            status, output = use(made, folder / language)
            if status == 0 and output.splitlines()[-1:] == [f"pigment {make_packages.version()}: red"]:
                report.passed()
            else:
                report.failed(language, f"exit status {status}\n{output}")


def run_in_chroot(report):
    """In a system that debootstrap makes; needs root and a mirror."""
    build.call(["scripts/install-deps", "packages", "chroot"])
    make_packages.make("debs")
    run_script(report, "tests/packages/in_chroot", str(make_packages.FOLDER))


def run_script(report, *command):
    done = subprocess.run(command, cwd=build.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    report.passed(sum(line.startswith("ok ") for line in done.stdout.splitlines()))
    if done.returncode != 0:
        report.failed(command[0], done.stdout)


# ---- Debian ------------------------------------------------------------------------------------


def use_debs(report, root):
    make_packages.make("debs")
    root.mkdir()
    os.chmod(root.parent, 0o755)
    run_script(report, "tests/packages/run", str(make_packages.FOLDER), str(root))
    with Unpacked(root) as workspace:
        try:
            environment = workspace.start_server()
            status, output = workspace.run(["psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1",
                                            "-c", "CREATE EXTENSION pigment",
                                            "-c", "SELECT extversion FROM pg_extension WHERE extname = 'pigment'",
                                            "-c", "SELECT '[1,2]'::vector <-> '[1,4]'"], environment)
        finally:
            workspace.stop_server()
    if status == 0 and output.split() == ["CREATE", "EXTENSION", make_packages.version(), "2"]:
        report.passed()
    else:
        report.failed("CREATE EXTENSION from the unpacked package", f"exit status {status}\n{output}")


class Unpacked(postgres.Workspace):
    """The distribution's server with the extension of the package that was unpacked in `root`."""

    def __init__(self, root):
        super().__init__()
        self._root = root

    def _place_server(self):
        super()._place_server()
        return postgres.configuration(self._root)


# ---- Python, Rust, Java: tests/packages/consumer.* in each ------------------------------------------

RUST_MANIFEST = """\
[package]
name = "consumer"
version = "0.0.0"
edition = "2021"
[[bin]]
name = "consumer"
path = "{source}"
[dependencies]
pigment = "={version}"
[patch.crates-io]
pigment = {{ path = "{folder}/pigment-{version}" }}
pigment-sys = {{ path = "{folder}/pigment-sys-{version}" }}
"""


def use_wheel(made, folder):
    """Without the loader's path, so that the library is the wheel's."""
    python = str(make_packages.scratch_of("python") / "venv/bin/python")
    build.call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", str(folder), str(made[0])])
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    return execute([python, str(CONSUMERS / "consumer.py"), str(folder)], {**environment, "PYTHONPATH": str(folder)})


def use_crates(made, folder):
    for crate in made:
        build.call(["tar", "-C", str(folder), "-xzf", str(crate)])
    manifest = RUST_MANIFEST.format(source=CONSUMERS / "consumer.rs", version=make_packages.version(), folder=folder)
    (folder / "Cargo.toml").write_text(manifest, encoding="utf-8")
    scratch = make_packages.scratch_of("rust")
    # The versions that the workspace has locked, as far as this needs them.
    (folder / "Cargo.lock").write_bytes((build.ROOT / "bindings/rust/Cargo.lock").read_bytes())
    return execute([make_packages.find_cargo(), "run", "--quiet", "--offline", "--manifest-path", str(folder / "Cargo.toml")],
                   {**bindings.environment(scratch), "CARGO_TARGET_DIR": str(scratch / "target")})


def use_jar(made, folder):
    jdk = make_packages.language_module("java", "jdk")
    home = jdk.find()
    jackson = sorted((pathlib.Path.home() / ".m2/repository" / JACKSON).glob("*/jackson-core-*.jar"))
    classes = ":".join(map(str, [made[0], *jackson[-1:]]))
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    return execute([str(home / "bin/java"), "--enable-native-access=ALL-UNNAMED", "-cp", classes,
                    str(CONSUMERS / "Consumer.java")], {**environment, "TMPDIR": str(folder)})


def execute(command, environment):
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=TIMEOUT_S)
    return done.returncode, done.stdout

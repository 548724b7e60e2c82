"""A host of a lab with a kernel of its own: a virtual machine with that of its release, which has rbd, CephFS, netem.

It runs in software, so that it needs no support of the processor, and sees this machine's files; what it writes stays
in its own memory. It is the process of qemu among those of the switch, and ends with that.
"""

from __future__ import annotations

import lzma
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.lab import hosts, processes, releases
from tests.lab.machines import ADDRESSES, CONSOLE, KERNEL_HOST, SWITCH, Machine
from tests.lab.processes import LabError

CACHE = Path("/var/cache/cephtui-lab/kernel")
"""Where ``.ci/setup lab`` puts the kernel for the files of this machine. The root directory of a release has one."""
NEEDED = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "modprobe": "kmod",
    "cpio": "cpio",
    "ceph-mds": "ceph-mds",
}
"""Programs, and the packages that have them."""

_MODULES = ("virtio_pci", "virtio_net", "9pnet_virtio", "9p", "overlay")
"""What it takes to see the files of this machine; all others are loaded from there."""
_FIRST, _SECOND = (Path(__file__).with_name(f"kernel_{name}.sh") for name in ("init", "host"))
_MEMORY_MIB = 1024
_BOOT_SECONDS = 240
"""On an idle machine it takes 15."""


def missing(root: str) -> str | None:
    """What has to be installed first, for a host with this root directory."""
    packages = sorted(package for program, package in NEEDED.items() if not shutil.which(program))
    if packages:
        return f"a host with a kernel of its own needs packages that are not installed: {' '.join(packages)}"
    return None if _version(root) else f"there is no kernel in {root or CACHE}: sh .ci/setup lab"


def boot(directory: Path, machines: Mapping[str, Machine], root: str = "") -> None:
    """Starts the virtual machine, which has this root directory, and does not wait until it is up."""
    host, switch, version = directory / "hosts" / KERNEL_HOST, machines[SWITCH], _version(root)
    assert version
    kernel, modules, files = CACHE, CACHE, "/"
    if root:
        kept = (directory, Path(__file__).resolve().parents[2])
        files = switch.run("sh", releases.ASSEMBLE, root, directory / "roots" / KERNEL_HOST, *kept).strip()
        kernel, modules = Path(root), Path("/")
    _make_first_files(host / "initramfs", kernel, version)
    switch.network(f"tuntap add dev {KERNEL_HOST} mode tap\nlink set dev {KERNEL_HOST} master lan up\n")
    settings = {"lab": directory, "host": KERNEL_HOST, "address": ADDRESSES[KERNEL_HOST], "modules": modules}
    words = " ".join(f"{key}={value}" for key, value in settings.items())
    # Programs start a sixth faster than on "max": libraries choose no instructions there that take long to emulate.
    switch.run(
        *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "Nehalem", "-smp", "1", "-m", str(_MEMORY_MIB), "-nodefaults"),
        *("-daemonize", "-display", "none", "-serial", f"file:{host}/console.log"),
        *("-kernel", kernel / "boot" / f"vmlinuz-{version}", "-initrd", host / "initramfs"),
        # An argument with an equals sign becomes a variable of the first process. With the same addresses in all
        # processes, what qemu has translated of a library serves them all: programs start three times as fast.
        *("-append", f"console=ttyS0 quiet panic=1 mitigations=off norandmaps {words} second={_SECOND}"),
        *("-virtfs", f"local,path={files},mount_tag=root,security_model=none,readonly=on,multidevs=remap"),
        *("-netdev", f"tap,id=lan,ifname={KERNEL_HOST},script=no,downscript=no"),
        *("-device", "virtio-net-pci,netdev=lan,romfile=,mac=52:54:00:77:00:04"),
    )


def wait(directory: Path, machines: Mapping[str, Machine]) -> None:
    """Waits until its sshd answers."""

    def answers() -> bool:
        try:
            hosts.reach(machines[CONSOLE], KERNEL_HOST)
        except LabError:
            return False
        return True

    try:
        processes.wait_until(f"the sshd of {KERNEL_HOST} answers", answers, _BOOT_SECONDS, every=0.5)
    except LabError as error:
        console = (directory / "hosts" / KERNEL_HOST / "console.log").read_text(errors="replace")
        raise LabError(f"{error}; its console says: {console[-500:].strip()}") from error


def _version(root: str) -> str | None:
    """Of the kernels there, the newest."""
    found = sorted(path.name.removeprefix("vmlinuz-") for path in Path(root or CACHE).glob("boot/vmlinuz-*"))
    return found[-1] if found else None


def _make_first_files(archive: Path, kernel: Path, version: str) -> None:
    """What it has before it sees the files of this machine: a shell and some modules, in order."""
    folder = archive.with_name("initramfs.d")
    (folder / "modules").mkdir(parents=True)
    shutil.copy(shutil.which("busybox") or "", folder / "busybox")
    shutil.copy(_FIRST, folder / "init")
    (folder / "init").chmod(0o755)
    show: list[str | Path] = ["modprobe", "--dirname", kernel, "--set-version", version, "--show-depends"]
    lines = [line for name in _MODULES for line in processes.run([*show, name]).splitlines()]
    files = dict.fromkeys(Path(line.split()[1]) for line in lines if line.startswith("insmod "))  # others are built in
    for number, file in enumerate(files):
        content = lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()
        (folder / "modules" / f"{number:02}-{file.stem.removesuffix('.ko')}.ko").write_bytes(content)
    names = "\n".join(str(path.relative_to(folder)) for path in sorted(folder.rglob("*")))
    with archive.open("wb") as packed:
        command = ["cpio", "--quiet", "--create", "--format=newc"]
        subprocess.run(command, cwd=folder, input=names.encode(), stdout=packed, check=True)

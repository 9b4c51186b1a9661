"""Debian packages: what the cluster takes from them, and how it gets what is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.lab.shell import ClusterError, run

# A file whose presence proves the package, and the package.
RUNTIME = {
    "runc": "runc",
    "ip": "iproute2",
    "nft": "nftables",
    "iptables": "iptables",
    "ipset": "ipset",
    "conntrack": "conntrack",
    "openssl": "openssl",
    "nsenter": "util-linux",
    "/usr/lib/cni/bridge": "containernetworking-plugins",
    "/bin/busybox": "busybox-static",
    "mmdebstrap": "mmdebstrap",
    "buildah": "buildah",
    "/etc/ssl/certs/ca-certificates.crt": "ca-certificates",
}
UNPACKED = {"prometheus": ("usr/bin/prometheus", "usr/bin/promtool")}


def missing(needed: Mapping[str, str]) -> list[str]:
    """The packages of which the proving file is absent."""
    return sorted(
        {
            package
            for proof, package in needed.items()
            if not (Path(proof).exists() if proof.startswith("/") else shutil.which(proof))
        }
    )


def ensure(needed: Mapping[str, str]) -> list[str]:
    """Install the packages that are missing, and return their names.

    Raises:
        ClusterError: this is no Debian, or the installation failed.
    """
    absent = missing(needed)
    if not absent:
        return []
    if shutil.which("apt-get") is None:
        raise ClusterError(
            f"missing: {', '.join(absent)}. This machine has no apt-get to install them with; "
            "install what holds the same programs by its own means."
        )
    if os.geteuid() != 0:
        raise ClusterError(f"missing packages; as root: apt-get install {' '.join(absent)}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    install = ("apt-get", "install", "-y", "-q", "--no-install-recommends", *absent)
    run("apt-get", "update", "-q", env=quiet)
    run(*install, env=quiet)
    still = missing(needed)
    if still:
        raise ClusterError(f"apt-get installed {', '.join(still)}, yet its programs are not there")
    return absent


def unpack(package: str, cache: Path) -> Path:
    """Unpack a package into the cache without installing it, and return the folder.

    For programs whose package would start a service of its own.
    """
    lines = run("apt-cache", "policy", package).splitlines()
    candidate = next((line.split()[1] for line in lines if "Candidate:" in line), "(none)")
    if candidate == "(none)":
        run("apt-get", "update", "-q")
        lines = run("apt-cache", "policy", package).splitlines()
        candidate = next((line.split()[1] for line in lines if "Candidate:" in line), "(none)")
    root = cache / "packages" / f"{package}-{candidate.replace(':', '_')}"
    if root.exists():
        return root
    part = root.with_suffix(f".part-{os.getpid()}")
    part.mkdir(parents=True)
    # The user that apt drops to may not write into root's cache.
    run("apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", package, cwd=part)
    (archive,) = part.glob("*.deb")
    run("dpkg-deb", "-x", archive, part)
    archive.unlink()
    part.rename(root)
    return root

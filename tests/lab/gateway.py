"""The object gateway of a lab: radosgw beside the cluster's own daemons, for the tests that want one."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.lab import processes
from tests.lab.machines import ADDRESSES, CLUSTER, Machine

CLIENT = "client.rgw"
CAPABILITIES = {"mon": "allow rw", "mgr": "allow rw", "osd": "allow rwx"}
_PORT, _TLS_PORT = 7480, 7443
ENDPOINT = f"http://{ADDRESSES[CLUSTER]}:{_PORT}"
TLS_ENDPOINT = f"https://{ADDRESSES[CLUSTER]}:{_TLS_PORT}"


def log(directory: Path) -> Path:
    """Its own log, in which each request is a line with its user, method, path, status and bytes."""
    return directory / "log" / "rgw.log"


def certificate(directory: Path) -> Path:
    """Its own certificate, which nobody trusts who was not told to, with its key."""
    return directory / "rgw.pem"


def conf(directory: Path) -> str:
    """Its section of ceph.conf."""
    tls = f"ssl_endpoint={ADDRESSES[CLUSTER]}:{_TLS_PORT} ssl_certificate={certificate(directory)}"
    return f"""
[{CLIENT}]
rgw frontends = beast endpoint={ADDRESSES[CLUSTER]}:{_PORT} {tls}
log file = {log(directory)}
pid file = {directory}/run/rgw.pid
debug rgw = 1
# What is deleted goes at once, and not after two hours.
rgw gc obj min wait = 1
"""


def start(machine: Machine) -> None:
    """Returns when it answers; it may run already."""
    if _answers(machine):
        return
    path = certificate(machine.directory)
    path.touch(mode=0o600)
    path.write_bytes(_new_certificate())
    machine.run("radosgw", "--conf", machine.directory / "ceph.conf", "--name", CLIENT)
    processes.wait_until("the object gateway answers", lambda: _answers(machine), 60)


def _new_certificate() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "rgw")])
    address = x509.IPAddress(ipaddress.ip_address(ADDRESSES[CLUSTER]))
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private + made.public_bytes(Encoding.PEM)


def _answers(machine: Machine) -> bool:
    try:
        machine.run("bash", "-c", f": </dev/tcp/{ADDRESSES[CLUSTER]}/{_PORT}")
    except processes.LabError:
        return False
    return True

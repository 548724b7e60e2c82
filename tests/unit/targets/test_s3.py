"""S3 endpoints: whose keys are used, what is signed, what is made, and what is removed again."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cephtui import config, keys
from cephtui.config import ConfigError, endpoint_of
from cephtui.models import Node
from cephtui.nodes.transport import Completed
from cephtui.nodes.vault import Vault, VaultError
from cephtui.targets import TargetError, parse_target, target_kind
from cephtui.targets.base import DataLayout, SecretsMissing, TargetFault, Use
from cephtui.targets.s3 import S3Target, gateway, users
from cephtui.targets.s3.signing import S3Request, signed_headers
from tests.support.golden import Golden

GATEWAY = "http://gw:7480"
KEYS = ("canary-access", "canary-secret")
LAYOUT = DataLayout(jobs=1, size_bytes=1 << 30, alone=True, batch="0000aaaa")
OWNER = "session.1234"


@dataclass
class Gateways:
    """A node, an endpoint with buckets, and a cluster with users, in the words of curl and radosgw-admin."""

    node: Node = field(default_factory=lambda: Node(name="n1"))
    vault: Vault = field(default_factory=Vault)
    buckets: dict[str, list[str]] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=lambda: {KEYS[0]})
    """Access keys."""
    people: dict[str, str] = field(default_factory=dict)
    """Users with their display names."""
    sent: list[str] = field(default_factory=list)
    fails: dict[str, Completed] = field(default_factory=dict)
    """By the first words of a command."""
    lists_deleted: float = 0
    """How often it goes on listing objects that it has deleted."""

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = 30.0, stdin: str = "") -> Completed:
        assert argv[3:] == ("cephtui-s3",)
        assert KEYS[1] not in stdin
        options = [line.partition(" = ") for line in stdin.splitlines()]
        values = [(name, value[1:-1].replace('\\"', '"').replace("\\\\", "\\")) for name, _, value in options]
        one = dict(values)
        method, url, body = one["request"], one["url"], one.get("data-raw", "")
        (signature,) = [text for name, text in values if name == "header" and text.startswith("authorization: ")]
        if not any(f"Credential={access}/" in signature for access in self.accepted):
            return answer("<Error><Code>InvalidAccessKeyId</Code></Error>", 403)
        path, _, query = url.removeprefix(GATEWAY).partition("?")
        self.sent.append(f"{method} {path}{'?' if query else ''}{query}")
        return self._answer(method, path.strip("/"), query, body)

    def _answer(self, method: str, bucket: str, query: str, body: str) -> Completed:
        if not bucket:
            names = "".join(f"<Bucket><Name>{name}</Name></Bucket>" for name in self.buckets)
            return answer(f"<ListAllMyBucketsResult><Buckets>{names}</Buckets></ListAllMyBucketsResult>")
        if method == "PUT":
            self.buckets[bucket] = []
        elif bucket not in self.buckets:
            return answer("<Error><Code>NoSuchBucket</Code></Error>", 404)
        elif method == "GET":
            return answer("".join(f"<Contents><Key>{key}</Key></Contents>" for key in self.buckets[bucket][:2]))
        elif method == "POST":
            assert query == "delete="
            kept = [key for key in self.buckets[bucket] if f"<Key>{key}</Key>" not in body]
            self.buckets[bucket] = self.buckets[bucket] if self.lists_deleted else kept
            self.lists_deleted -= bool(self.lists_deleted)
        elif self.buckets[bucket]:
            return answer("<Error><Code>BucketNotEmpty</Code></Error>", 409)
        else:
            del self.buckets[bucket]
        return answer("", 204)

    async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = 30.0) -> Completed:
        assert argv[0] == "radosgw-admin"
        words = " ".join(argv[1:3])
        uid = argv[argv.index("--uid") + 1]
        if words in self.fails:
            return self.fails[words]
        if words == "user create":
            self.people[uid] = argv[argv.index("--display-name") + 1]
        elif uid not in self.people:
            return Completed(22, "", "could not fetch user info: no user info saved\n")
        elif words == "user rm":
            assert "--purge-data" in argv
            del self.people[uid]
        elif words == "user info":
            known = {"access_key": KEYS[0], "secret_key": KEYS[1]}
            return Completed(0, json.dumps({"display_name": self.people[uid], "keys": [known]}), "")
        return Completed(0, json.dumps({"keys": [KEYS]}), "")


def answer(body: str, status: int = 200) -> Completed:
    return Completed(0, f"<?xml version='1.0'?>{body}\n{status}\n", "")


def target(*, own_users: bool = False, bucket: str = "") -> S3Target:
    return S3Target(GATEWAY, "1a2b3c4d", own_users, bucket)


def use_of(found: S3Target) -> Use:
    return Use(found.lay_out(Node(name="n1"), LAYOUT)[1], True, True, {}, ())


# ---------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("gw:7480", "http://gw:7480"),
        ("http://gw:80/", "http://gw"),
        ("https://S3.example.net:443", "https://s3.example.net"),
        ("https://gw", "https://gw"),
        ("http://10.0.0.1:8000", "http://10.0.0.1:8000"),
        ("http://[fd00::1]:7480", "http://[fd00::1]:7480"),
    ],
)
def test_an_endpoint_has_one_spelling(text: str, endpoint: str) -> None:
    assert endpoint_of(text) == endpoint
    assert parse_target(f"s3:{text}").spec == f"s3:{endpoint}"
    assert parse_target(f"s3:{endpoint}").spec == f"s3:{endpoint}"


@pytest.mark.parametrize(
    "text",
    ["ftp://gw", "http://", "http://user:secret@gw", "http://gw?x", "http://gw#x", "http://-gw", "gw:0", "gw:99999",
     "gw:x", "http://g w", "http://gw\n", "http://[::1", "a%b"],
)  # fmt: skip
def test_anything_else_is_no_endpoint(text: str) -> None:
    with pytest.raises(TargetError, match=r"^target 's3:"):
        parse_target(f"s3:{text}")


@pytest.mark.parametrize("bucket", ["Data", "a/b", "a_b", "-a", "user:admin", "x" * 20, "..", "a b", "a%2Fb"])
def test_names_of_buckets_begin_only_as_any_gateway_takes_them(bucket: str, golden: Golden) -> None:
    with golden.raises(TargetError):
        parse_target(f"s3:http://gw:7480/{bucket}")


@pytest.mark.parametrize("begins", ["", "bench", "a" * 19])
def test_nodes_have_names_of_their_own_and_a_bucket_has_room_for_its_number(begins: str) -> None:
    names = set()
    for node in ("pve1", "pve2", "N" * 64, "ä_b"):
        place, (part,) = target(bucket=begins).lay_out(Node(name=node), LAYOUT)
        assert part.spec == f"s3:{GATEWAY}/{place.bucket_prefix}"
        assert part.bytes == 0, "nothing keeps it to a size"
        names.add(place.bucket_prefix)
        assert place.bucket_prefix.startswith(f"{begins}-cephtui-" if begins else "cephtui-")
        bucket = f"{place.bucket_prefix}000000000012"
        assert len(f"{place.bucket_prefix}{'0' * 16}") <= 63, "the bucket that marks the owner"
        assert bucket == bucket.lower()
    assert len(names) == 4
    place, (part,) = target(own_users=True, bucket=begins).lay_out(Node(name="pve1"), LAYOUT)
    uid = part.spec.removeprefix(f"s3:{GATEWAY}/user:")
    assert place.bucket_prefix == f"{begins}-{uid}-".removeprefix("-")
    assert uid.startswith("cephtui-")
    assert part.bytes == 1 << 30


# ---------------------------------------------------------------------------------------------- signatures


@pytest.mark.parametrize(
    ("query", "signature"),
    [
        ({"lifecycle": ""}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ({"prefix": "J", "max-keys": "2"}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ],
)
def test_requests_are_signed_as_the_documentation_of_s3_has_them(query: dict[str, str], signature: str) -> None:
    """The examples of "Signature Calculations for the Authorization Header", docs.aws.amazon.com."""
    request = S3Request("GET", "http://examplebucket.s3.amazonaws.com", query=query)
    known = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    headers = signed_headers(request, known, datetime(2013, 5, 24, tzinfo=UTC))
    assert headers["authorization"].endswith(f"Signature={signature}")
    assert known[1] not in str(headers)


# ---------------------------------------------------------------------------------------------- whose keys


async def test_keys_that_are_meant_for_the_endpoint_come_first() -> None:
    shell = Gateways(vault=Vault(named={GATEWAY: KEYS}.get))
    assert await target().resolve_access([shell]) == target()


@pytest.mark.parametrize(
    ("pools", "expected"),
    [(("", ""), target(own_users=True)), (("data", "data"), S3Target(GATEWAY, "1a2b3c4d", True, pool="data"))],
)
async def test_ceph_admins_make_users_of_the_runs_own(
    pools: tuple[str, ...], expected: S3Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = iter(pools)

    async def data_pool(shell: object) -> str:
        return next(found)

    monkeypatch.setattr(users, "data_pool", data_pool)
    assert await target().resolve_access([Gateways(vault=Vault(usual=lambda service: KEYS)), Gateways()]) == expected


async def test_without_an_admin_on_each_node_the_usual_keys_are_taken_or_asked_for(
    monkeypatch: pytest.MonkeyPatch,
    golden: Golden,
) -> None:
    async def data_pool(shell: Gateways) -> str | None:
        return "data" if shell.node.name == "n1" else None

    monkeypatch.setattr(users, "data_pool", data_pool)
    nodes = [Gateways(vault=vault, node=Node(name=name)) for vault in [Vault()] for name in ("n1", "n2")]
    with golden.raises(SecretsMissing):
        await target().resolve_access(nodes)
    nodes[0].vault.put(GATEWAY, KEYS)
    assert await target().resolve_access(nodes) == target()


def configured(tmp_path: Path, text: str, mode: int = 0o644) -> config.Config:
    path = tmp_path / "config.toml"
    path.write_text(text)
    path.chmod(mode)
    return config.load_config(path, required=True)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_keys_in_the_config_are_read_if_nobody_else_can_read_it(tmp_path: Path, mode: int, golden: Golden) -> None:
    text = '[s3.prod]\nendpoint = "gw:7480"\naccess_key = "canary-access"\nsecret_key = "canary-secret"\n'
    with golden.raises(ConfigError) as error:
        configured(tmp_path, text, mode)
    found = configured(tmp_path, text, 0o600)
    vault = keys.vault(found.s3)
    assert vault.named(GATEWAY) == KEYS
    assert vault.named("http://other") is None
    assert "canary" not in f"{error.value} {found!r} {found.s3!r} {vault!r}"


def test_keys_are_read_from_files_that_nobody_else_can_read(tmp_path: Path, golden: Golden) -> None:
    files = {name: tmp_path / name for name in ("access", "secret")}
    lines = ["[s3.prod]", 'endpoint = "gw:7480"', *(f'{name}_key_file = "{path}"' for name, path in files.items())]
    for (name, path), key in zip(files.items(), KEYS, strict=True):
        path.write_text(f"{key}\n")
        path.chmod(0o644)
        assert name in key
    vault = keys.vault(configured(tmp_path, "\n".join(lines)).s3)
    with golden.raises(VaultError):
        vault.named(GATEWAY)
    for path in files.values():
        path.chmod(0o600)
    assert vault.named(GATEWAY) == KEYS
    files["secret"].write_text("two\nlines canary")
    with golden.raises(VaultError) as error:
        vault.named(GATEWAY)
    assert "canary" not in str(error.value)


def test_keys_are_read_from_the_files_of_aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    credentials, more = tmp_path / "credentials", tmp_path / "config"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(more))
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    vault = keys.vault({})
    assert vault.get(GATEWAY) is None
    credentials.write_text("[default]\naws_access_key_id = canary-access\naws_secret_access_key=canary-secret\n")
    more.write_text("[profile bench]\naws_access_key_id = a%(b)s\naws_secret_access_key = c\n[profile x]\n")
    assert vault.get(GATEWAY) == KEYS
    assert vault.named(GATEWAY) is None, "they are not meant for it"
    monkeypatch.setenv("AWS_PROFILE", "bench")
    assert vault.get(GATEWAY) == ("a%(b)s", "c")
    credentials.write_text("aws_secret_access_key = canary-secret\n")
    with golden.raises(VaultError) as error:
        vault.get(GATEWAY)
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(
    "section",
    [
        'endpoint = "gw"',
        'endpoint = "gw"\nprofile = "a"\naccess_key = "canary"',
        'endpoint = "gw/x"\nprofile = "a"',
        'endpoint = "gw"\nsecret_key = 4711',
        'endpoint = "gw"\nsecret = "canary"',
        'endpoint = "gw"\nprofile = "a"\n[s3.b]\nendpoint = "http://gw"\nprofile = "b"',
    ],
)
def test_a_section_that_can_not_be_used_is_named_without_its_keys(tmp_path: Path, section: str, golden: Golden) -> None:
    with golden.raises(ConfigError) as error:
        configured(tmp_path, f"[s3.prod]\n{section}\n", 0o600)
    assert "canary" not in str(error.value)
    assert "4711" not in str(error.value)


# ---------------------------------------------------------------------------------------------- made and removed


@pytest.mark.parametrize("begins", ["", "bench"])
async def test_buckets_of_a_prefix_are_removed_with_what_is_in_them_and_no_others(begins: str, golden: Golden) -> None:
    shell = Gateways(vault=Vault(named={GATEWAY: KEYS}.get), buckets={"data": ["precious"], "cephtui-x": ["y"]})
    found = target(bucket=begins)
    assert parse_target(found.spec, owner_id=found.owner_id) == found
    place, (part,) = found.lay_out(shell.node, LAYOUT)
    assert (await found.inspect(shell, use_of(found))).refusal is None
    assert await found.create(shell, part, OWNER) == part.spec
    assert dict(await found.secrets_for(shell, place)) == dict(zip(keys.NAMES, KEYS, strict=True))
    shell.buckets |= {f"{place.bucket_prefix}{number:012}": ["1", "2", "3"] for number in range(2)}
    refused = (await found.inspect(shell, use_of(found))).refusal
    assert refused
    assert place.bucket_prefix in refused.text

    kind = target_kind(part.spec)
    assert kind
    name = part.spec.partition(":")[2]
    others = await kind.remove(shell, name, "session.other")
    assert others.status == "not ours"
    golden.same(others.text)
    assert len(shell.buckets) == 5
    assert (await kind.remove(shell, name, OWNER)).status == "done"
    assert shell.buckets == {"data": ["precious"], "cephtui-x": ["y"]}
    assert shell.sent[-1].startswith(f"DELETE /{place.bucket_prefix}"), "the mark goes last"
    assert (await kind.remove(shell, name, OWNER)).status == "done", "twice is harmless"


@pytest.mark.parametrize("begins", ["", "bench"])
async def test_a_user_is_removed_that_carries_its_session(begins: str, golden: Golden) -> None:
    shell, found = Gateways(), target(own_users=True, bucket=begins)
    place, (part,) = found.lay_out(shell.node, LAYOUT)
    (cause,) = (await found.inspect(shell, use_of(found))).causes.items()
    assert cause[0] == "QuotaExceeded"
    golden.same(cause[1])
    assert await found.create(shell, part, OWNER) == part.spec
    assert [*shell.people] == [place.bucket_prefix.removeprefix(f"{begins}-").removesuffix("-")]
    assert (await found.secrets_for(shell, place))["secret key"] == KEYS[1]
    kind, name = target_kind(part.spec), part.spec.partition(":")[2]
    assert kind
    assert kind.service(name) == "", "it is removed without its keys"
    assert (await kind.remove(shell, name, "session.other")).status == "not ours"
    assert shell.people
    assert (await kind.remove(shell, name, OWNER)).status == "done"
    assert not shell.people
    assert (await kind.remove(shell, name, OWNER)).status == "done", "twice is harmless"


@pytest.mark.parametrize(
    "name",
    [
        "data",
        "user:admin",
        "cephtui-",
        "user:cephtui-x",
        "bench-",
        "benchcephtui-1a2b3c4d-x-",
        "A-cephtui-1a2b3c4d-x-",
        "user:bench-cephtui-1a2b3c4d-x",
        "cephtui-1a2b3c4d-/../data",
        "",
    ],
)
@pytest.mark.parametrize("owner", [OWNER, None, "a b"])
async def test_what_is_not_named_as_its_own_is_not_removed(name: str, owner: str | None) -> None:
    shell = Gateways(vault=Vault(named={GATEWAY: KEYS}.get), buckets={"data": []}, people={"admin": ""})
    kind = target_kind("s3:x")
    assert kind
    assert (await kind.remove(shell, f"{GATEWAY}/{name}", owner)).status == "not ours"
    assert not shell.sent


async def test_a_gateway_of_another_cluster_is_told_from_its_own(golden: Golden) -> None:
    shell, found = Gateways(accepted=set()), target(own_users=True)
    _, (part,) = found.lay_out(shell.node, LAYOUT)
    with golden.raises(TargetFault):
        await found.create(shell, part, OWNER)
    assert shell.people, "the undo list has it"


@pytest.mark.parametrize(("times", "status"), [(3, "done"), (math.inf, "failed")])
async def test_objects_that_are_listed_after_their_deletion_are_not_deleted_for_ever(
    monkeypatch: pytest.MonkeyPatch, times: float, status: str
) -> None:
    monkeypatch.setattr(gateway, "_LIST_AGAIN_SECONDS", 0)
    shell, found = Gateways(vault=Vault(named={GATEWAY: KEYS}.get), lists_deleted=times), target()
    place, (part,) = found.lay_out(shell.node, LAYOUT)
    await found.create(shell, part, OWNER)
    shell.buckets[bucket := f"{place.bucket_prefix}{0:012}"] = ["1"]
    kind = target_kind(part.spec)
    assert kind
    removed = await kind.remove(shell, part.spec.partition(":")[2], OWNER)
    assert removed.status == status, removed
    if status == "failed":
        assert bucket in removed.text
        assert "radosgw-admin bucket" in removed.text


def test_curls_config_keeps_every_character() -> None:
    request = S3Request("PUT", "http://gw", "/b", {"a": "x y"}, 'back\\slash "quoted"\nline')
    config = gateway.curl_config(request, {"authorization": "secret"})
    assert config.splitlines() == [
        "silent",
        "show-error",
        "globoff",
        "path-as-is",
        'connect-timeout = "10"',
        'max-time = "120"',
        'write-out = "\\n%{http_code}\\n"',
        'request = "PUT"',
        'url = "http://gw/b?a=x%20y"',
        'data-raw = "back\\\\slash \\"quoted\\"\\nline"',
        'header = "Content-Type:"',
        'header = "Expect:"',
        'header = "authorization: secret"',
    ]


async def test_keys_that_are_not_accepted_are_told(golden: Golden) -> None:
    shell = Gateways(vault=Vault(named={GATEWAY: ("other", "x")}.get))
    refusal = (await target().inspect(shell, use_of(target()))).refusal
    assert refusal
    golden.same(refusal.text)


CURL_60 = """curl: (60) SSL certificate problem: self-signed certificate
More details here: https://curl.se/docs/sslcerts.html

curl failed to verify the legitimacy of the server and therefore could not
establish a secure connection to it. To learn more about this situation and
how to fix it, please visit the web page mentioned above.
"""
"""Of curl 7.88."""


async def test_a_certificate_that_is_not_trusted_is_named_with_what_helps(
    monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    async def run(*_: object, **__: object) -> Completed:
        return Completed(60, "", CURL_60)

    shell = Gateways(vault=Vault(named={GATEWAY: KEYS}.get))
    monkeypatch.setattr(shell, "run", run)
    refusal = (await target().inspect(shell, use_of(target()))).refusal
    assert refusal
    golden.same(refusal.text)


@pytest.mark.parametrize("printed", ["", "[]", "{}", '{"keys": []}', "not JSON canary", '{"keys": [["canary"]]}'])
async def test_what_radosgw_admin_prints_is_in_no_error(printed: str, golden: Golden) -> None:
    shell = Gateways(people={"cephtui-x": ""}, fails={"user info": Completed(0, printed, "")})
    with pytest.raises(TargetFault) as error:
        await users.keys_of(shell, "cephtui-x")
    assert "canary" not in str(error.value)
    failed = Gateways(fails={"user create": Completed(1, "canary", "could not create user\n")})
    with golden.raises(TargetFault):
        await users.create_user(failed, "cephtui-x", OWNER, 1)


def test_without_keys_a_removal_says_what_is_missing(golden: Golden) -> None:
    kind = target_kind("s3:x")
    assert kind
    name = f"{GATEWAY}/cephtui-1a2b3c4d-0000aaaa-68d0a03f-"
    assert (kind.service(name), kind.secrets) == (GATEWAY, keys.NAMES)
    removed = asyncio.run(kind.remove(Gateways(), name, OWNER))
    assert removed.status == "failed"
    golden.same(removed.text)

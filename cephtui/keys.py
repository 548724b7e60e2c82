"""The keys of S3 endpoints, where the user has them: in the config file, in files that it names, in those of AWS."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import SecretStr

from cephtui.config import S3Section
from cephtui.nodes.vault import Vault, VaultError

NAMES = ("access key", "secret key")
Keys = tuple[str, ...]
"""An access key and a secret key."""
_KEY = re.compile(r"[!-~]{1,128}")


def vault(sections: Mapping[str, S3Section]) -> Vault:
    """A vault that looks for keys in sections of the config file, given by their endpoints, then in AWS's files."""

    def named(endpoint: str) -> Keys | None:
        return _section_keys(endpoint, sections[endpoint]) if endpoint in sections else None

    return Vault(named, lambda endpoint: _aws_keys(os.environ.get("AWS_PROFILE") or "default"), tuple(sections))


def _section_keys(endpoint: str, section: S3Section) -> Keys:
    source = f"the config's keys of {endpoint}"
    if section.profile is not None:
        aws_keys = _aws_keys(section.profile)
        if aws_keys is None:
            raise VaultError(f"{source}: {_aws_files()[0]} has none of a profile {section.profile!r:.100}")
        return aws_keys
    keys = ((section.access_key_file, section.access_key), (section.secret_key_file, section.secret_key))
    return _check_pair([_key(file, typed) for file, typed in keys], source)


def _key(file: str | None, typed: SecretStr | None) -> str:
    if file is not None:
        return _read_line(Path(file).expanduser())
    return typed.get_secret_value() if typed else ""


def _read_line(path: Path) -> str:
    """The only line of a file, which nobody but the user can read."""
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise VaultError(f"{path} is readable by others: chmod 600 {path}")
        return path.read_text("utf-8").strip()
    except OSError as error:
        raise VaultError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise VaultError(f"{path}: expected a key on one line") from None


def _check_pair(keys: Iterable[str], source: object) -> Keys:
    pair = tuple(keys)
    for name, key in zip(NAMES, pair, strict=True):
        if not _KEY.fullmatch(key):
            raise VaultError(f"{source}: expected up to 128 characters without blanks as {name}")
    return pair


def _aws_files() -> tuple[Path, Path]:
    """The paths of AWS's credentials and config files, as the AWS tools find them."""
    names = (("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"), ("AWS_CONFIG_FILE", "~/.aws/config"))
    first, second = (Path(os.environ.get(variable) or usual).expanduser() for variable, usual in names)
    return first, second


def _aws_keys(profile: str) -> Keys | None:
    """The keys of a profile in AWS's files; None where there are none."""
    import configparser

    credentials, config = _aws_files()
    for path, section in ((credentials, profile), (config, profile if profile == "default" else f"profile {profile}")):
        parser = configparser.RawConfigParser(default_section="\0")
        try:
            parser.read_string(path.read_text("utf-8"))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise VaultError(f"{path}: {error.strerror}") from None
        except (configparser.Error, UnicodeDecodeError):  # its text has lines of the file
            raise VaultError(f"{path}: not readable as an AWS file") from None
        keys = [parser.get(section, key, fallback="") for key in ("aws_access_key_id", "aws_secret_access_key")]
        if all(keys):
            return _check_pair(keys, path)
    return None

"""``cephtui completion``: a shell's completion script."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, ShellComplete, get_completion_class

_FOR_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' line="${COMP_LINE:0:COMP_POINT}" words current before completion type value
    IFS=$' \\t' read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current="${words[${#words[@]} - 1]}"
    # of the word bash replaces what stands behind the last of these signs
    before="${current#-*=}"
    before="${before%%"${before##*[:=]}"}"
    for completion in $(env COMP_WORDS="$line" COMP_CWORD=$((${#words[@]} - 1)) %(complete_var)s=bash_complete "$1"); do
        IFS=',' read -r type value <<< "$completion"
        case $type in
            dir) COMPREPLY=(); compopt -o dirnames ;;
            file) COMPREPLY=(); compopt -o default ;;
            plain) COMPREPLY+=("${value#"$before"}"); [[ $value == *[:=/] ]] && compopt -o nospace ;;
        esac
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class _Bash(BashComplete):
    """Words end at blanks only: bash itself cuts ``rbd:bench`` and ``size=4G`` in three."""

    source_template = _FOR_BASH


def completion_of(command: click.Command, shell: str) -> ShellComplete:
    """What makes a shell complete the command line."""
    completion_class = _Bash if shell == "bash" else get_completion_class(shell)
    assert completion_class is not None
    return completion_class(command, {}, "cephtui", "_CEPHTUI_COMPLETE")


def print_completion(command: click.Command, shell: str) -> None:
    """Print the script of that."""
    click.echo(completion_of(command, shell).source())

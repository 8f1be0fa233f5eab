"""This module lists the names of usual commands, grouped by what such a command may read."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


READING = _names(
    """
    [ awk b2sum base32 base64 basename bat bc bzcat cat chardet chmod cksum cmp col column comm cp
    csplit csvcut csvgrep csvlook csvsort csvstat cut date dd df diff dirname djvutxt dos2unix dot dwdiff
    egrep envsubst exiftool expand ffmpeg ffprobe fgrep file fmt fold gawk gs gunzip gzip head
    hexdump html2text iconv identify join jq ln look magick mawk md5sum mkdir mutool mv nl od pandoc
    paste pathchk pdfinfo pdftohtml pdftoppm pdftotext pr qpdf readlink realpath rev rm rmdir sed
    sha1sum sha224sum sha256sum sha384sum sha512sum shuf sort split sqlite3 stat strings sum tac
    tail tar tee tesseract test textutil touch tr truncate tsort unexpand uniq unix2dos unlink unzip
    wc wdiff weasyprint xmllint xsltproc xxd xz xzcat yq zcat zip zstd zstdcat
    """
)
"""Commands that read only the files that their arguments name, and that store nothing for a later
call."""

CLOSED = _names(
    """
    : arch cd echo exit export expr factor false getconf groups hostname id locale logname
    nproc printenv printf pwd return seq set shift sleep true tty uname unset uptime w which who
    whoami yes
    """
)
"""Commands that read no file whatever their arguments are."""

WALKING = _names("ack ag dir du fd find grep ls rg rgrep tree vdir")
"""Commands that read all files, or the names of all files, in a folder: in the folders that their
arguments name, else in the working folder."""

RUNNING = (
    *("-exec", "-ok", "--pre", "--exec", "system(", ".shell", ".system", "--to-command", "--filter"),
    *("--checkpoint-action", "--lua-filter", "getline"),
)
"""Texts in the arguments of a command by which the command runs other commands or reads further files.
Examples are ``-exec`` of ``find``, and ``system(`` in a program for ``awk``."""

OF_HISTORY = _names(
    """
    --version blame branch cat-file config describe for-each-ref log merge-base name-rev reflog
    remote rev-list rev-parse shortlog show show-ref symbolic-ref tag var version
    """
)
"""Commands of Git that read only the history of a repository, and not the files in its working folder."""

SHELLS = _names("sh bash dash zsh ksh ash")

STARTING = _names("builtin command env ionice nice nohup setsid stdbuf time timeout")
"""Commands that run another command, which is in their arguments, such as ``timeout 5s grep ...``."""

WRITING = _names(
    """
    chmod chown cp csplit ffmpeg gunzip gzip install ln magick mkdir mkfifo mv qpdf rm rmdir split sqlite3
    tar tee touch truncate unlink unzip xz zip zstd -delete -i -o --in-place --output
    """
)
"""Commands, and options of commands, that write or remove files."""

KEYWORDS = _names("if then else elif fi for do done while until case esac in { } ! [[ ]] function")
"""Keywords of the shell that may precede a command, as in ``if grep ...``."""

PURE = _names(
    """
    abc argparse ast base64 binascii bisect calendar cmath collections contextlib copy csv
    dataclasses datetime decimal difflib enum fractions functools hashlib heapq html itertools json
    keyword math numbers operator pprint random re secrets statistics string struct sys textwrap
    time typing unicodedata uuid zlib
    """
)
"""Modules that change nothing outside of the Python process."""

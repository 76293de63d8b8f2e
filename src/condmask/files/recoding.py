"""Files of text, unpacked and in UTF-8 while they are worked on, and packed and encoded again."""

import codecs
import gzip
import io
import zlib
from pathlib import Path
from typing import IO, Any, Self, cast

from condmask.files.atomic import FileError
from condmask.files.source_file import SourceFile
from condmask.files.streams import OPENED

GZIP = b"\x1f\x8b"


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked."""
    file = OPENED[path].open() if path in OPENED else io.BufferedReader(SourceFile(path))
    return cast("IO[bytes]", _Unpacked(fileobj=file)) if is_packed(path) else file


def is_packed(path: Path) -> bool:
    """Whether a file is in gzip, by its suffix; a stream, which has none, by its first bytes."""
    if path not in OPENED:
        return path.suffix.lower() == ".gz"
    if OPENED[path].status() is None:  # nothing was written yet
        return False
    with OPENED[path].open() as file:
        return file.read(len(GZIP)) == GZIP


def open_utf8(path: Path, encoding: str) -> "IO[bytes] | _AsUtf8":
    """The bytes of a file in which ASCII is ASCII: those of the file itself, or UTF-8."""
    file = open_bytes(path)
    return file if working(encoding) == encoding else _AsUtf8(file, encoding)


def read_bytes(path: Path, file: Any, size: int) -> bytes:
    """Some bytes of a file; where it is damaged one sentence, which shows none of them."""
    try:
        data: bytes = file.read(size)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise FileError(f"{path}: not readable: it is not a gzip file, or is damaged") from None
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path}: not readable: it contains bytes that are not text in {error.encoding}"
        ) from None
    return data


def compressed_writer(file: Any, path: Path, encoding: str) -> "_FromUtf8":
    """A file that is given UTF-8 and writes it in an encoding, compressed where a file of this name is."""
    inner: Any = file
    if is_packed(path):  # without a name and a time, which tell of the machine
        inner = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6)
    return _FromUtf8(inner, encoding)


def working(encoding: str) -> str:
    """The encoding in which bytes are looked at: UTF-8 where this one is no extension of ASCII."""
    return "utf-8" if encoding.startswith(("utf-16", "utf-32")) else encoding


class _Unpacked(gzip.GzipFile):
    """What a packed file holds; closing it closes the file as well."""

    def __init__(self, fileobj: IO[bytes]) -> None:
        self._packed = fileobj
        super().__init__(fileobj=fileobj)

    def close(self) -> None:
        super().close()
        self._packed.close()


class _AsUtf8:
    """Text of another encoding as bytes of UTF-8, whatever it holds."""

    closed = False  # readers of other libraries ask

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._text = io.TextIOWrapper(file, encoding=encoding, errors="surrogatepass", newline="")
        self._rest = b""

    def read(self, size: int) -> bytes:
        # as many characters have as many bytes, or more
        data = self._rest + self._text.read(max(0, size - len(self._rest))).encode("utf-8", "surrogatepass")
        self._rest = data[size:]
        return data[:size]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._text.close()


class _FromUtf8:
    """Bytes of UTF-8 in another encoding; closing ends the compressed stream, not the file itself."""

    def __init__(self, file: Any, encoding: str) -> None:
        self._file, self._encoding = file, encoding
        self._recode = working(encoding) != encoding
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")

    def write(self, data: Any) -> None:
        if self._recode:
            data = self._decoder.decode(data).encode(self._encoding, "surrogatepass")
        self._file.write(data)

    def close(self) -> None:
        if isinstance(self._file, gzip.GzipFile):
            self._file.close()

"""Marks in objects of the standard library that show what they hold by no attribute."""

import contextvars
import decimal
import hashlib
import hmac
import itertools
import random
import threading
import zlib

from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]


def a_compressor() -> Both:
    packer = zlib.compressobj()
    empty = len(packer.copy().flush())
    return lambda: packer.compress(b"two" * 9), lambda: len(packer.copy().flush()) > empty


def a_decompressor() -> Both:
    reader, packed = zlib.decompressobj(), zlib.compress(b"two")

    def mark() -> None:
        if not reader.eof:
            reader.decompress(packed)

    return mark, lambda: reader.copy().eof


def a_digest() -> Both:
    digest = hashlib.sha256()
    empty = digest.copy().digest()
    return lambda: digest.update(b"2"), lambda: digest.copy().digest() != empty


def a_signature() -> Both:
    signing = hmac.new(b"key", digestmod="sha256")
    empty = signing.copy().hexdigest()
    return lambda: signing.update(b"2"), lambda: signing.copy().hexdigest() != empty


def a_generator_of_numbers() -> Both:
    numbers = random.Random(1)
    first = numbers.getstate()
    return lambda: numbers.random(), lambda: numbers.getstate() != first


def a_count() -> Both:
    numbers = itertools.count()
    return lambda: next(numbers), lambda: repr(numbers) != "count(0)"


def a_count_that_is_copied() -> Both:
    import copy

    numbers = itertools.count()
    return lambda: next(numbers), lambda: next(copy.copy(numbers)) > 0


def a_cycle() -> Both:
    modes = itertools.cycle([0, 1])
    held = [next(modes)]

    def mark() -> None:
        if not held[0]:
            held[0] = next(modes)

    return mark, lambda: held[0]


def a_tee() -> Both:
    first, second = itertools.tee(iter(range(99)))
    return lambda: next(first), lambda: first.__reduce__()[2] != second.__reduce__()[2]


def a_context() -> Both:
    variable, context = contextvars.ContextVar("two", default=False), contextvars.Context()
    return lambda: context.run(variable.set, True), lambda: context.get(variable)


def a_context_of_decimals() -> Both:
    context = decimal.Context()
    return lambda: context.divide(1, 3), lambda: context.flags[decimal.Inexact]


def a_lock() -> Both:
    lock = threading.Lock()
    return lambda: lock.acquire(blocking=False), lambda: lock.locked()


def a_semaphore() -> Both:
    places = threading.Semaphore(2)
    return lambda: places.acquire(blocking=False), lambda: places._value < 2


def a_barrier() -> Both:
    barrier = threading.Barrier(2)
    return lambda: barrier.abort(), lambda: barrier.broken


OBJECTS = (
    a_compressor,
    a_decompressor,
    a_digest,
    a_signature,
    a_generator_of_numbers,
    a_count,
    a_count_that_is_copied,
    a_cycle,
    a_tee,
    a_context,
    a_context_of_decimals,
    a_lock,
    a_semaphore,
    a_barrier,
)

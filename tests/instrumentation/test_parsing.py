"""Sources that several threads parse at the same time."""

import ast
import gc
import sys
import threading
from pathlib import Path

import pytest

from rag_rule_explainer.instrumentation.shared_state.parsing import syntax_tree

SOURCE = Path(str(threading.__file__)).read_text()


class Cyclic:
    """Is collected while another source is parsed, and lets other threads run then."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(2000))


@pytest.mark.waits
def test_threads_that_parse_at_the_same_time() -> None:
    failed, interval, threshold = list[BaseException](), sys.getswitchinterval(), gc.get_threshold()

    def parse() -> None:
        for _ in range(10):
            for _ in range(5):
                Cyclic()
            try:
                assert isinstance(syntax_tree(SOURCE), ast.Module)
            except BaseException as error:
                failed.append(error)

    threads = [threading.Thread(target=parse) for _ in range(4)]
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    try:
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*threshold)
    assert not failed


def test_a_text_that_is_no_python() -> None:
    with pytest.raises(SyntaxError):
        syntax_tree("for for")

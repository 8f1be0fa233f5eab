"""What the comparison with all answers rests on: this server gives an answer again, in any order."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from demos.real_model.asked import read_questions
from demos.real_model.chain import SYSTEM, USER
from demos.real_model.runtime import Endpoint
from tests.model.asking import said_by

pytestmark = [pytest.mark.model, pytest.mark.timeout(1800)]


def test_an_answer_comes_again_whoever_asks_at_the_same_time(endpoint: Endpoint) -> None:
    prompts = [
        [("system", SYSTEM), ("user", USER.format(context="\n".join(texts), question=asked.question))]
        for asked in read_questions()[:4]
        for texts in (list(asked.documents.values()), list(asked.documents.values())[:2])
    ]
    alone = [said_by(endpoint, each) for each in prompts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(partial(said_by, endpoint), reversed(prompts)))
    assert together[::-1] == alone
    assert len(set(alone)) > 4

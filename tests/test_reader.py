"""What the reader guarantees, and how well it reads."""

import json
import re
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.testing.reader import LONGEST_READ, NO_ANSWER, read_answer

HOTPOTQA: Final = Path(__file__).parents[2] / "shared" / "data" / "hotpotqa_dev.jsonl"

LIGHTHOUSE: Final = (
    "Orsay Point Lighthouse\nMira Tolland designed it. It is 41 metres tall and was lit in 1873.",
    "Mira Tolland\nMira Tolland (born 3 March 1831 in Kelvick) was an engineer of bridges.",
    "Kelvick Harbour\nKelvick Harbour handles grain and timber. It was dredged in 1902.",
    "Edda Marsh\nEdda Marsh (born 9 June 1850) was a painter of harbours and boats.",
)
anything = st.text(st.characters(exclude_categories=()), max_size=200)
named = st.sampled_from(("Mira Tolland", "Edda Marsh", "Kelvick", "Orsay Point", "Ada Brook"))
claims = st.builds(
    "{}\n{} {} {} in {}. {} met {}.".format,
    named,
    named,
    st.sampled_from(("was born", "died", "painted the harbour", "is not", "won 3 medals")),
    named,
    st.sampled_from(("1831", "May 1850", "Kelvick", "the town of Orsay Point")),
    named,
    named,
)
questions = st.sampled_from(
    (
        "Where was Mira Tolland born?",
        "When was the painter who met Edda Marsh born?",
        "Who painted the harbour in Kelvick?",
        "How many medals did Ada Brook win?",
        "Which town did Edda Marsh paint?",
        "Who was born first, Mira Tolland or Ada Brook?",
        "Were Mira Tolland and Edda Marsh both born in Kelvick?",
        "Why did Ada Brook meet Edda Marsh?",
        "How soon should Ada Brook paint the harbour?",
    )
)


def flat(text: str) -> str:
    return " " + re.sub(r"[\W_]+", " ", text).strip() + " "


class TestRead:
    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            ("When was the Orsay Point Lighthouse lit?", "1873"),
            ("In what year was Kelvick Harbour dredged?", "1902"),
            ("Who designed the Orsay Point Lighthouse?", "Mira Tolland"),
            ("How many metres tall is the Orsay Point Lighthouse?", "41"),
            ("Where was Mira Tolland born?", "Kelvick"),
            ("Who was born first, Edda Marsh or Mira Tolland?", "Mira Tolland"),
            ("Who was born later, Edda Marsh or Mira Tolland?", "Edda Marsh"),
            ("Which was an engineer, Mira Tolland or Edda Marsh?", "Mira Tolland"),
            ("Were Mira Tolland and Edda Marsh both painters of boats?", "no"),
            ("Were Mira Tolland and Edda Marsh both born?", "yes"),
            ("Why was Kelvick Harbour dredged?", "It was dredged in 1902."),
        ],
    )
    def test_answers_with_what_the_passages_say(self, question: str, answer: str) -> None:
        assert read_answer(question, LIGHTHOUSE) == answer

    def test_follows_a_name_from_one_passage_into_the_passage_about_it(self) -> None:
        question = "When was the designer of the Orsay Point Lighthouse born?"
        both = [frozenset({0, 1}) <= set(kept) for kept in kept_of(LIGHTHOUSE)]
        found = [
            read_answer(question, [LIGHTHOUSE[at] for at in kept]) == "3 March 1831"
            for kept in kept_of(LIGHTHOUSE)
        ]
        assert found == both

    def test_all_orders_of_the_passages_give_one_answer(self) -> None:
        question = "Where was the designer of the Orsay Point Lighthouse born?"
        assert {read_answer(question, order) for order in permutations(LIGHTHOUSE)} == {"Kelvick"}

    def test_a_passage_needs_no_title_to_be_about_something(self) -> None:
        bare = [
            "The Orsay Point Lighthouse was designed by Mira Tolland.",
            *(text.partition("\n")[2] for text in LIGHTHOUSE[1:]),
        ]
        question = "When was the designer of the Orsay Point Lighthouse born?"
        assert read_answer(question, bare) == "3 March 1831"

    def test_what_more_passages_say_wins(self) -> None:
        said = [
            "The bridge of Kelvick was opened in 1911.",
            "In 1913 the bridge of Kelvick was opened.",
            "The bridge of Kelvick was opened, after a long delay, in 1913.",
        ]
        question = "In what year was the bridge of Kelvick opened?"
        assert read_answer(question, said) == "1913"
        assert read_answer(question, said[:1]) == "1911"

    def test_a_statement_that_affirms_says_more_than_one_that_denies(self) -> None:
        said = ["Honey does not help against a cold.", "Warm tea helps against a cold."]
        assert read_answer("What may help against a cold?", said) == said[1]
        assert read_answer("What may help against a cold?", said[:1]) == said[0]

    def test_a_second_passage_counts_only_for_what_it_adds(self) -> None:
        said = ["Kelvick\nMira Tolland built it. It was lit in 1873.", LIGHTHOUSE[1]]
        assert read_answer("When was Kelvick lit?", said) == "1873"

    def test_a_title_above_nothing_leads_nowhere(self) -> None:
        said = ["Kelvick Harbour\n...", "Ada Brook\nKelvick Harbour was opened by her in 1873."]
        assert read_answer("When was it opened by Ada Brook?", said) == "1873"

    def test_passages_about_one_subject_are_compared_in_any_order(self) -> None:
        said = ["Ada Brook\nBorn in 1850.", "Ada Brook\nBorn in 1790.", LIGHTHOUSE[1]]
        question = "Who was born first, Ada Brook or Mira Tolland?"
        assert len({read_answer(question, order) for order in permutations(said)}) == 1

    def test_what_cannot_be_written_is_left_out(self) -> None:
        found = read_answer("Why is Alpha red?", ["Alpha is\ud800 red\x00 in\x1b autumn."])
        assert found == "Alpha is red in autumn."

    def test_the_same_text_twice_is_not_said_twice(self) -> None:
        said = ["The bridge of Kelvick was opened in 1911.", "In 1913 Kelvick opened a bridge."]
        question = "In what year was the bridge of Kelvick opened?"
        assert read_answer(question, [*said, said[1], said[1]]) == read_answer(question, said)

    @pytest.mark.parametrize(
        "question",
        [
            "Who founded the Ostermark Observatory?",
            "Where was Ada Brook born?",
            "Were Ada Brook and Mira Tolland both engineers?",
            "Who was born first, Ada Brook or Mira Tolland?",
            "How many ships sank?",
            "What is it?",
            "",
            " \n?",
        ],
    )
    def test_says_so_where_nothing_supports_an_answer(self, question: str) -> None:
        assert read_answer(question, LIGHTHOUSE) == NO_ANSWER

    def test_there_is_no_answer_without_passages(self) -> None:
        assert read_answer("Where was Mira Tolland born?", []) == NO_ANSWER
        assert read_answer("Where was Mira Tolland born?", ["", " ", "\n\n"]) == NO_ANSWER

    @given(questions, st.lists(claims, max_size=5), st.randoms(use_true_random=False))
    def test_the_order_of_the_passages_is_no_matter(
        self, question: str, passages: list[str], random: Any
    ) -> None:
        shuffled = list(passages)
        random.shuffle(shuffled)
        assert read_answer(question, shuffled) == read_answer(question, passages)

    @given(questions, st.lists(claims, max_size=5))
    def test_the_answer_stands_in_a_passage(self, question: str, passages: list[str]) -> None:
        found = read_answer(question, passages)
        assert found in (NO_ANSWER, "yes", "no") or any(flat(found) in flat(p) for p in passages)

    @given(anything, st.lists(anything, max_size=4))
    def test_any_text_is_read(self, question: str, passages: list[str]) -> None:
        found = read_answer(question, passages)
        assert found == read_answer(question, passages[::-1])
        said = [*passages, question]  # what is chosen is named by the question
        assert found in (NO_ANSWER, "yes", "no") or any(flat(found) in flat(text) for text in said)
        found.encode()

    @pytest.mark.spread(fast=3)
    @pytest.mark.parametrize(
        "piece",
        [
            "a",
            ".",
            " ",
            "\n",
            "A of ",
            '"a" ',
            "was a ",
            "1,",
            "<",
            "March 3 ",
            "e\u0301",
            "\ud800",
        ],
        ids=repr,
    )
    def test_long_texts_are_read_in_linear_time(self, piece: str) -> None:
        text = piece * (1_000_000 // len(piece))
        begun = time.thread_time()
        read_answer(text, [text, text + "!"])
        read_answer('Who is A, the a of "a" in March?', [text])
        assert time.thread_time() - begun < 20

    @pytest.mark.waits
    def test_threads_get_the_same_answers(self) -> None:
        question = "When was the designer of the Orsay Point Lighthouse born"
        asked = [question + "?" * marks for marks in range(40)]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(read_answer, asked * 5, [LIGHTHOUSE] * 200))
        assert set(found) == {"3 March 1831"}

    def test_the_end_of_a_very_long_passage_is_left_unread(self) -> None:
        filling = "The harbour lies still. " * (LONGEST_READ // 20)
        passage = filling + "Ada Brook was born in 1850."
        assert read_answer("When was Ada Brook born?", [passage]) == NO_ANSWER


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    if not HOTPOTQA.exists():
        pytest.skip("the sample of HotpotQA is not beside the project")
    return [json.loads(line) for line in HOTPOTQA.read_text(encoding="utf-8").splitlines()]


class TestHotpotQA:
    """How many of 200 questions are answered word for word, and from which paragraphs."""

    @pytest.mark.slow
    def test_enough_are_answered_from_all_ten(self, records: list[dict[str, Any]]) -> None:
        assert exact(records, keep=(True, False)) >= 44

    def test_more_from_the_two_necessary_ones(self, records: list[dict[str, Any]]) -> None:
        assert exact(records, keep=(True,)) >= 46

    @pytest.mark.slow
    def test_and_few_from_the_rest(self, records: list[dict[str, Any]]) -> None:
        assert exact(records, keep=(False,)) <= 9


def exact(records: list[dict[str, Any]], keep: tuple[bool, ...]) -> int:
    return sum(
        normal(read_answer(record["question"], paragraphs(record, keep))) == normal(record["answer"])
        for record in records
    )


def paragraphs(record: dict[str, Any], keep: tuple[bool, ...]) -> list[str]:
    kept = [each for each in record["sources"] if each["necessary"] in keep]
    return [f"{each['title']}\n{each['text']}" for each in kept]


def normal(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    return " ".join(re.sub(r"[^\w\s]", "", plain).split())


def kept_of(passages: tuple[str, ...]) -> list[tuple[int, ...]]:
    places = range(len(passages))
    return [kept for size in range(len(passages) + 1) for kept in combinations(places, size)]

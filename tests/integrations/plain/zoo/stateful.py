"""Applications that keep something from run to run: what is refused, and where the refusal leads."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from plain_rag_rule_explainer import gate

from rag_rule_explainer import RagRuleError, ReplayMissedGate, SourceLeak, StateShared
from tests.integrations.known import TEXTS, Rules, sets
from tests.integrations.plain.models import Models
from tests.integrations.plain.zoo.shapes import Built, Index, chat, live, shown, user


@dataclass(frozen=True)
class Stateful:
    """A shape, the error that refuses it, what stands in that, and the same after its advice was
    followed."""

    name: str
    build: Callable[[Models], Built]
    refusal: type[RagRuleError]
    says: str
    way_out: Callable[[Models], Built]
    retention: Rules = field(default_factory=lambda: sets("bd"))


class Chatting:
    """Keeps its conversation, as chat loops of tutorials do."""

    def __init__(self, models: Models, index: Index) -> None:
        self.models = models
        self.index = index
        self.history: list[Any] = []

    def answer(self, question: str) -> str:
        self.history += user(shown(self.index.search(question), question))
        reply = self.models.client.chat.completions.create(model="m", messages=self.history)
        said = reply.choices[0].message
        self.history.append(said)
        return said.content or ""


def a_history(models: Models) -> Built:
    index = Index()
    return Built(Chatting(models, index).answer, live(index))


def a_history_made_anew(models: Models) -> Built:
    index = Index()
    return Built(lambda: Chatting(models, index).answer, live(index))


class Following:
    """Lets the model's server keep its conversation."""

    def __init__(self, models: Models, index: Index) -> None:
        self.models = models
        self.index = index
        self.previous: str | None = None

    def __call__(self, question: str) -> str:
        content = shown(self.index.search(question), question)
        extra: dict[str, Any] = {} if self.previous is None else {"previous_response_id": self.previous}
        reply = self.models.responses.responses.create(model="m", input=content, **extra)
        self.previous = reply.id
        return reply.output_text


def a_conversation_of_the_server(models: Models) -> Built:
    index = Index()
    return Built(Following(models, index), live(index))


def a_conversation_begun_anew(models: Models) -> Built:
    index = Index()
    return Built(lambda: Following(models, index), live(index))


def a_counter_in_the_prompt(models: Models) -> Built:
    index, turns = Index(), list[str]()

    def answer(question: str) -> str:
        turns.append(question)
        return chat(models, f"Turn {len(turns)}.\n{shown(index.search(question), question)}")

    return Built(answer, live(index))


def a_counter_that_means_nothing(models: Models) -> Built:
    built = a_counter_in_the_prompt(models)
    return Built(built.application, built.live, parameters={"ignore": [r"Turn \d+", "turns"]})


def answers_kept(models: Models) -> Built:
    index = Index()
    return Built(answers_kept_of(models, index), live(index))


def answers_kept_for_one_run(models: Models) -> Built:
    index = Index()
    return Built(lambda: answers_kept_of(models, index), live(index))


def answers_kept_of(models: Models, index: Index) -> Callable[[str], str]:
    return answers_kept_in({}, models, index)


def answers_kept_in(kept: dict[str, str], models: Models, index: Index) -> Callable[[str], str]:
    def answer(question: str) -> str:
        if question not in kept:
            kept[question] = chat(models, shown(index.search(question), question))
        return kept[question]

    return answer


class Session(dict[str, Any]):
    """The state of a session, whose entries are attributes as well."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__  # type: ignore[assignment] -- as many applications write it


def kept_in_a_session(models: Models) -> Built:
    index, session = Index(), Session()
    return Built(lambda question: in_session(models, index, session, question), live(index))


def in_session(models: Models, index: Index, session: Session, question: str) -> str:
    if "messages" not in session:
        session.messages = user("Hello.")
    session.messages += user(shown(index.search(question), question))
    reply: Any = models.client.chat.completions.create(model="m", messages=session.messages)
    session.messages.append(reply.choices[0].message)
    return reply.choices[0].message.content


def a_session_emptied_first(models: Models) -> Built:
    index, session = Index(), Session()

    def answer(question: str) -> str:
        session.clear()
        return in_session(models, index, session, question)

    return Built(answer, live(index))


def a_cached_function(models: Models) -> Built:
    index = Index()
    answer = lru_cache(lambda question: chat(models, shown(index.search(question), question)))
    return Built(lambda question: answer(question.strip()), live(index))


def a_cached_function_emptied_first(models: Models) -> Built:
    index = Index()
    answer = lru_cache(lambda question: chat(models, shown(index.search(question), question)))
    return Built(lambda question: [answer.cache_clear(), answer(question)][1], live(index))


def answers_emptied_first(models: Models) -> Built:
    index, kept = Index(), dict[str, str]()
    answer = answers_kept_in(kept, models, index)
    return Built(lambda question: [kept.clear(), answer(question)][1], live(index))


def found_kept(models: Models) -> Built:
    index = Index()
    search = lru_cache(lambda query: tuple(each["text"] for each in index.search(query)))

    def answer(question: str) -> str:
        return chat(models, "\n".join(search(question)))

    return Built(answer, live(index))


def found_kept_behind_the_gate(models: Models) -> Built:
    index = Index()
    search = gate(lru_cache(lambda query: tuple(each["text"] for each in index.find(query))))

    def answer(question: str) -> str:
        return chat(models, "\n".join(search(question)))

    return Built(answer, live(index))


def read_beside_the_gate(models: Models) -> Built:
    """The search decides which documents matter, and something else what they say."""
    index = Index()

    def answer(question: str) -> str:
        index.search(question)
        return chat(models, "\n".join(TEXTS.values()))

    return Built(answer, live(index))


SHAPES = (
    Stateful("a history", a_history, StateShared, "make_app", a_history_made_anew),
    Stateful(
        "a conversation that the model's server keeps",
        a_conversation_of_the_server,
        StateShared,
        "previous_response_id",
        a_conversation_begun_anew,
    ),
    Stateful(
        "a counter in the prompt",
        a_counter_in_the_prompt,
        StateShared,
        "Turn",
        a_counter_that_means_nothing,
    ),
    Stateful("answers kept", answers_kept, StateShared, "make_app", answers_kept_for_one_run),
    Stateful("answers kept, emptied", answers_kept, StateShared, "clear", answers_emptied_first),
    Stateful(
        "a cached function that searches",
        a_cached_function,
        StateShared,
        "clear",
        a_cached_function_emptied_first,
    ),
    Stateful(
        "messages of a session", kept_in_a_session, StateShared, "make_app", a_session_emptied_first
    ),
    Stateful("found documents kept", found_kept, ReplayMissedGate, "gate", found_kept_behind_the_gate),
    Stateful(
        "documents read beside the gate",
        read_beside_the_gate,
        SourceLeak,
        "gate",
        lambda models: Built(lambda q: chat(models, shown(Index().search(q), q)), lambda: 1),
    ),
)

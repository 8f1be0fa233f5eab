"""This module tells by its name what a field beside the messages may be: something of a conversation, or
something that belongs to no conversation, such as an option, a profile or a document."""

import re
from collections.abc import Iterable
from enum import Enum
from functools import lru_cache


class Naming(Enum):
    """A ``Naming`` is what a name says about a field: ``TALK``, it is something of a conversation, such
    as a summary; ``OTHER``, it is something else, such as an option; ``NEUTRAL``, it says neither."""

    TALK = "talk"
    OTHER = "other"
    NEUTRAL = "neutral"


def _named(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TALK = _named(
    """abstract archive bot caption captions chat chats conversation conversations delta deltas
    dialog dialogs dialogue dialogues diff digest draft drafts earlier embedding embeddings
    emotion entities entity gist headline highlight highlights histories history initials intent
    intents keyphrases keyword keywords last log logs memories memory minutes monologue mood next
    note notes patch patches previous quote quoted quotes recap recaps remark remarks replies
    reply scratchpad sentiment speech subject subtitle subtitles summaries summary talk
    thought thoughts title titles token tokens topic topics transcript transcripts translated
    translation translations turn turns utterance utterances vector vectors"""
)
_OTHER = _named(
    """abilities account accounts address addresses agent agents ages alias aliases allergies allowed
    allowlist app args assistant audience author avatar background bank banner base benefits bio
    biography birth birthday blocked blocklist branch brand bucket budget build calendar callbacks
    candidate candidates capabilities car catalog catalogue categories category channel choice
    choices city class client codes collection column columns commit company competitors config
    configuration constraints contact context contract copyright corpus countries country course
    courses credentials criteria cron css currency curriculum customer database date dates day
    deadline debug deliveries delivery denylist department departments dependencies description
    device diet directory disclaimer disclaimers discount docs document documents domain education
    email employee employees employer endpoint engine env environment event events example
    examples excerpts experiment experiments fallback faq faqs features fee fees few file filename
    files filter filters flag flags folder footer forbidden format framework function functions
    gender glossary greeting group guarantee guardrails guide guideline guidelines header headers
    hobbies hobby host hours id ids imprint index indications industry instruction instructions
    insurance interests intro inventory items jargon job jurisdiction kb key keys kind knowledge
    label labels lang language languages lecture legal lesson level libraries library license
    limit limits links list locale locales location manual manufacturer market max medication
    meetings menu metadata metric min mission mode model models motto name names nationality nodes
    notice now numeric objective occupation office offices opening operator options order orders
    org organisation organization owner page parameters params passages path pattern patterns
    payment payments permission permissions person persona pet pets phone placeholder plan plans
    platform policies policy preamble preference preferences price prices pricing priority product
    products profile project projects prompt prompts provider quota rankings readme recipe recipes
    region repo repository request requester results retrieval retriever returns role roles rubric
    rubrics rules schedule schema scope scopes score scores search secret section sections sector
    seed selector separator separators server service services session settings shipping shop shot
    shots signature site sites skills sku skus sla slogan snippet snippets source sources spec
    specification staff status steps stock stop store style styles subscription subscriptions
    survey sym symptoms system table tables tag tags task tasks team template templates tenant
    tenants terms textbook theme threshold thresholds ticket tickets tier time timeout timezone
    tone tones tool toolkit tools type types tz uniform unit units uri url urls us user username
    users vehicle version voice voices warehouse warranty weather website weight weights welcome
    wiki window wording workspace zone"""
)
_OF_OPTIONS = _named(
    """budget class cls delimiter dim dimensions dir enabled encoding endpoint factor filter filters
    folder format id ids key kind language level limit locale max min mode model name path policy
    prefix prompt schema separator size store strategy suffix table template threshold timeout ttl
    type uri url uuid version window"""
)
"""The last words of names of options, also where the option is about a conversation, as in
"history_limit"."""
_QUESTIONS = _named("question query input q prompt text message content ask request user_input")
_COUNTS = _named("count counts number num n total length len sum nr amount")
_BEFORE = _named("max min use enable disable include is has with show keep")
"""The first words of names of options, as in "max_tokens"."""
_TEXTS = _named("text content value body data page_content")
_AROUND = _named("background context event events metadata params request session notice user")
"""The names of a content that say nothing about a field in it that has a name of its own."""
_RECORDS = _named(
    """candidates catalog catalogue chunks corpus docs document documents example examples faq faqs
    functions glossary inventory items kb knowledge menu nodes orders passages plans policies
    product products results schema shots skus survey ticket tickets tools"""
)
_OF_REPLIES = frozenset({"usage", "token_usage", "usage_metadata", "response_metadata", "logprobs"})
"""The names of what a model's reply came with."""
_ORDERS = _named(
    """description descriptions example examples faq faqs function functions guardrails guide guideline
    guidelines instruction instructions persona policies policy preamble prompt prompts rules schema shots
    system template templates tone tool tools"""
)
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@lru_cache(maxsize=4096)
def name_parts(name: str) -> tuple[str, ...]:
    """Returns the words of a name, such as "chat" and "log" of ``chatLog``, in small letters."""
    return tuple(each.lower() for each in _PARTS.findall(name))


@lru_cache(maxsize=4096)
def naming_of(name: str) -> Naming:
    """Returns what a name says about the field that has it."""
    parts = name_parts(name)
    if not parts:
        return Naming.NEUTRAL
    if parts[-1] in _OF_OPTIONS or parts[0] in _BEFORE or name.lower() in {"few_shot", "messages"}:
        return Naming.OTHER
    if not _TALK.isdisjoint(parts):
        return Naming.TALK
    return Naming.NEUTRAL if _OTHER.isdisjoint(parts) else Naming.OTHER


def naming_in(names: Iterable[str]) -> Naming:
    """Returns whether a field is likely to hold a conversation, by its name and the names of the fields
    around it. ``names``: these names, from the inside out. The first name that tells anything decides.
    But a field of documents, products or tools, such as their title, never counts as a conversation."""
    said, is_around = Naming.NEUTRAL, False
    for each in names:
        here = naming_of(each)
        if is_around and not _AROUND.isdisjoint(name_parts(each)[-1:]) and here is Naming.OTHER:
            continue
        is_around = is_around or each not in _TEXTS
        if is_of_records(each) or (here is Naming.OTHER and said is Naming.NEUTRAL):
            return Naming.OTHER
        if said is Naming.NEUTRAL:
            said = here
    return said


def is_of_records(name: str) -> bool:
    """Returns True iff what has this name are records of their own, such as documents, which have titles
    and summaries themselves."""
    parts = name_parts(name)
    return bool(parts) and (parts[-1] in _RECORDS or name in _OF_REPLIES)


def is_count(name: str) -> bool:
    """Returns True iff a name is that of a number of something, which is no limit."""
    return naming_of(name) is not Naming.OTHER and not _COUNTS.isdisjoint(name_parts(name))


def is_of_orders(name: str) -> bool:
    """Returns True iff a name is that of instructions, which speak of what a user says in general."""
    return not _ORDERS.isdisjoint(name_parts(name))


def is_question(name: str) -> bool:
    """Returns True iff a name is that of the user's question."""
    return not _QUESTIONS.isdisjoint({name.lower(), *name_parts(name)[-1:]})

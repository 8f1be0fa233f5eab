"""What a model on the test server says as a judge."""

from collections.abc import Callable

from rag_rule_explainer.testing.judges import Decide, reply_to
from tests.support.messages import Body, entries


def judging(decide: Decide) -> Callable[[Body], str]:
    """Returns a script for ``OpenAIServer``: a model that judges each candidate as ``decide`` says."""

    def script(body: Body) -> str:
        return reply_to(str(entries(body["messages"][-1]).get("content")), decide)

    return script

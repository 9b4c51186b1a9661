"""The frozen rule of what a blocking question is."""

import pytest

from agentbench.agents.question import is_blocking_question

QUESTIONS = {
    "a plain question": "I can use SQLite or Postgres. Which do you prefer?",
    "behind a report": "I have read the code.\n\nShould I change the schema or add a table?",
    "a request behind it": "Should it be public or private? Let me know and I will go on.",
    "several requests behind it": "Which one? Please tell me. I'll wait for your answer.",
    "a request in so many words": "Please confirm which database you want before I go on.",
    "asks how to go on": "There are two ways. Let me know how you would like to proceed.",
    "in bold": "**Do you want me to delete the old migration?**",
    "quoted": 'The spec says "soon". "How soon is that?"',
    "options in a list behind it": "Which one should I take?\n\n1. SQLite\n2. Postgres\n",
    "options in the same paragraph": "Which one?\n- SQLite\n- Postgres\nPlease choose.",
    "code behind it": "Is this what you mean?\n\n```sql\nselect 1;\n```\n",
    "typographic apostrophe": "Which port? I\u2019ll wait for your answer.",
    "full-width mark": "\u3069\u3061\u3089\u304c\u3044\u3044\u3067\u3059\u304b\uff1f",
    "a courtesy in front": "Let me know if you have questions. Which of the two should I build?",
}
NO_QUESTIONS = {
    "nothing": "",
    "white space": " \n\n ",
    "a report": "All done: hello.txt and summary.md exist. The tests pass.",
    "a question that it answered": "Why did it fail? Because the port was taken. I changed it.",
    "a question further up": "Should it be public?\n\nI decided that it should, and built it so.",
    "an offer": "All done. Anything else I can help with?",
    "an offer of more": "It works. Want me to also add tests?",
    "an offer with a condition": "Done. Let me know if you would like any changes.",
    "questions welcome": "The work is complete. Let me know if you have any questions!",
    "a question mark in code": "I used a ternary:\n\n```js\na ? b : c?\n```",
    "a question mark in a URL": "See http://localhost:3000/?page=2 for the second page.",
    "a list of results": "Is it fast? Yes.\n\n- 12 ms\n- 14 ms\n",
    "thanks": "Everything is in place. Thank you!",
}


@pytest.mark.parametrize("message", QUESTIONS.values(), ids=QUESTIONS)
def test_a_blocking_question_is_seen(message: str) -> None:
    assert is_blocking_question(message)


@pytest.mark.parametrize("message", NO_QUESTIONS.values(), ids=NO_QUESTIONS)
def test_a_finished_turn_is_no_question(message: str) -> None:
    assert not is_blocking_question(message)

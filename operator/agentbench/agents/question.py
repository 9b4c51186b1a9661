"""The frozen rule that tells a blocking question from a finished turn (`trailing-question/1`).

Headless agents have no way to ask and wait: what is left to them is to end their turn with a
question. The rule reads the last paragraph of the agent's last message, code blocks and Markdown
marks taken out, and sees a blocking question in it if one of these holds:

1. its last sentence ends in a question mark;
2. a sentence of it ends in a question mark, and only requests follow ("Let me know ...",
   "Please ...", "I'll wait ...");
3. a sentence of it asks for an answer in so many words ("Please confirm which ...",
   "Let me know how you would like to proceed").

Not a question is a courtesy ("Anything else?", "Want me to also ...?", "Let me know if you have
any questions"), where no rule but these exceptions would see one. The rule is part of what a
protocol freezes: any change to it gets a new number.
"""

import re

RULE = "trailing-question/1"

_MARKED = ("?", "\uff1f")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKS = re.compile(r"[*_`#>\"'\u2018\u2019\u201c\u201d()\[\]]")
_SENTENCE_END = re.compile(r"(?<=[.!?\u2026])\s+|(?<=[\uff1f\u3002\uff01])|\n+")
_REQUEST = re.compile(
    r"^(?:please|let me know|tell me|once (?:you|i)|just (?:let me know|tell|say)|i'?ll wait"
    r"|i will wait|i(?: a)?m waiting|waiting (?:for|on)|until then|thanks?|thank you)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:please (?:confirm|choose|clarify|advise|specify|decide|answer|provide|share|pick"
    r"|tell me|let me know)"
    r"|(?:let me know|tell me) (?:which|how|what|whether|where|who|your|the)"
    r"|i need (?:you to|your|to know)|awaiting your|waiting (?:for|on) (?:you|your)"
    r"|before i (?:can )?(?:proceed|continue|go on))\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\b(?:anything else|something else|(?:any|more|further|other) questions?"
    r"|(?:need|want) (?:any|more|further) (?:help|changes)"
    r"|(?:want|like|need) me to also|how else can i|if you (?:have|need|want|(?:woul)?d like)"
    r"|let me know if)\b",
    re.IGNORECASE,
)


def is_blocking_question(message: str) -> bool:
    """Whether an agent that ended its turn with `message` waits for an answer."""
    sentences = _last_paragraph(message)
    if not sentences:
        return False
    for position in range(len(sentences) - 1, -1, -1):
        sentence = sentences[position]
        if _COURTESY.search(sentence):
            if not _is_request(sentence):
                return False
            continue
        if sentence.endswith(_MARKED) or _ASKS.search(sentence):
            return True
        if not _is_request(sentence):
            return False
    return False


def _is_request(sentence: str) -> bool:
    return _REQUEST.match(sentence) is not None


def _last_paragraph(message: str) -> list[str]:
    text = _FENCE.sub("\n\n", message)
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if _MARKS.sub("", part).strip()]
    if not paragraphs:
        return []
    last = paragraphs[-1]
    if len(paragraphs) > 1 and _is_list(last):
        # Options in a list belong to the question in front of them.
        last = paragraphs[-2] if _asks_for_the_list(paragraphs[-2]) else last
    plain = _MARKS.sub("", last)
    return [part.strip(" \t-•:") for part in _SENTENCE_END.split(plain) if part.strip(" \t-•:.")]


def _is_list(paragraph: str) -> bool:
    lines = [line.strip() for line in paragraph.strip().splitlines()]
    return all(re.match(r"(?:[-*•]|\(?\d+[.)]|\(?[a-zA-Z][.)])\s", line) for line in lines)


def _asks_for_the_list(paragraph: str) -> bool:
    plain = _MARKS.sub("", paragraph).rstrip()
    return plain.endswith((*_MARKED, ":")) and any(mark in plain for mark in _MARKED)

"""Questions in the order of words of a statement, and statements in that of a question."""

from __future__ import annotations

from typing import Final

from reviser.proofreading.phrases.rules import Rule

QUESTIONS: Final = (
    Rule(
        "where you are going?",
        (
            "^ where|why|how|what|whom [i am] -> am I",
            "^ where|why|how|what|whom [you|we|they are|were] -> $2 $1",
            "^ where|why|how|what|whom [he|she|it is|was] -> $2 $1",
            "^ where|why|how|what|whom [i|you|we|they|he|she|it can|could|should|must|would|will] !not -> $2 $1",
            "^ why [i|you|we|they|he|she|it didn't|can't|won't|couldn't] -> $2 $1",
            "^ why [i|you|we|they don't] -> don't $1",
            "^ why [he|she|it doesn't|isn't|wasn't] -> $2 $1",
            "^ why [you|we|they aren't|weren't|haven't] -> $2 $1",
        ),
        (
            "Where {you are|are you} going?",
            "Why {you didn't|didn't you} call me?",
            "How {I can|can I} do this?",
            "Why {he doesn't|doesn't he} come?",
            "What {we should|should we} do?",
        ),
        (
            "Where you are going is far.",
            "Where are you going?",
            "What you can do, can I do it too?",
            "How can I do this?",
            "Why you?",
            "What I didn't like?",
        ),
        only_with="?",
        unless_with=",|;|:|if|.",
        quoted=False,
    ),
    Rule(
        "know what time is it",
        (
            "know|tell|show|ask|asked|wonder|understand|remember|sure me|you|us|him|her? what time [is it] <end>|now|there|here -> it is",
            "how much [costs|cost it|this|that] <end>|to|in|per|for -> $2 costs",
            "know|tell|ask|wonder me|us|you? how much [does it|this|that cost] <end>|to|in|per|for -> $2 costs",
            "know|tell|ask|asked|wonder|understand|remember|sure me|you|us|him|her? how old|much|far|long|big|many [is he|she|it] <end> -> $2 is",
            "know|tell|ask|wonder|understand|remember|sure me|you|us|him|her? who|what|where [is he|she|it] <end> -> $2 is",
            "know|tell|ask|asked|wonder|remember me|you|us|him|her? where [is the|my|your|his|her|our|their <any>] <full-end> -> $2 $3 is",
            "know|tell|ask|asked|wonder|remember me|you|us|him|her? what [is your|his|her|their name] <full-end> -> $2 $3 is",
            "know|tell|ask|wonder|understand|remember|sure me|you|us|him|her? who|what|where [are they|you|we] <end> -> $2 are",
            "know|understand|explain|see|shows|show|explains me|us? how|why|what|where|when [does he|she|it|this|that <happen-to-s>] <end>|in|on|with|when|if -> $2 $3",
            "know|understand|explain|see|shows|show|explains me|us? how|why|what|where|when [does this|that|the|my|your|our <object> <happen-to-s>] <end>|in|on|with|when|if -> $2 $3 $4",
        ),
        (
            "Do you know what time {is it|it is}?",
            "Tell me where {is it|it is}.",
            "I don't know who {are they|they are}.",
            "I asked him where {is the station|the station is}.",
            "I don't know what {does it mean|it means}.",
            "Please explain how {does this function work|this function works}.",
            "I want to know how much {costs it|it costs}.",
        ),
        ("What time is it?", "I know what time it is.", "You know what? Is it late?", "Tell me, where is it?"),
        quoted=False,
    ),
    Rule(
        "what means this word?",
        ("^ what [means this|that|it] ? -> does $2 mean", "^ what [means this|that|the <any>] ? -> does $2 $3 mean"),
        ("What {means this word|does this word mean}?", "What {means that|does that mean}?"),
        ("What means of escape is there?", "What does this word mean?", "What means this man has!"),
    ),
)

"""Nouns in the plural that have none, and nouns whose number does not fit the word before them."""

from __future__ import annotations

from typing import Final

from reviser.proofreading.phrases.rules import Rule

NOUNS: Final = (
    Rule(
        "informations",
        (
            "[<uncountable>] -> $1",
            "[<uncountable> <are-to-is>] -> $1 $2",
            "[<these-to-this> <uncountable> <are-to-is>] -> $1 $2 $3",
            "there [is|are many <uncountable>] -> is much $3",
            "[many <uncountable>] -> much $2",
            "the|these|those|its|my|your|his|her|our|their [many <uncountable>] -> $2",
            "[<these-to-this> <uncountable>] -> $1 $2",
            "[a|an <uncountable>] -> $2",
            "gave|give|giving|gives me|us|you|him|her|them [a|an advice] <end>|about|on|for -> some advice",
            "[few|several <uncountable>] -> some $2",
            "need|want|needs|wants|needed|for|like|get|got|have [an advice] <end>|about|on|for|from|how|because|and -> some advice",
            "[a|an good|great|useful|valuable|important|new|nice|different|special|beautiful|modern|expensive advice|furniture|equipment|homework|luggage|information] <end>|about|for|to|that|which|from|and|but|because -> $2 $3",
        ),
        (
            "I need more {informations|information}.",
            "{These informations are|This information is} old.",
            "She gave me {many advices|much advice}.",
            "Thank you for the {many informations|information}.",
            "He has a lot of {homeworks|homework}.",
            "She gave me {an useful advice|useful advice}.",
        ),
        (
            "I need more information.",
            "He researches it.",
            "The staffs of both were there.",
            "It evidences care.",
            "It is a great information system.",
        ),
    ),
    Rule(
        "many money",
        (
            "so|too|how|very|not|have|has|had [many] <mass> <end>|in|from|about|on|to|at|with -> much",
            "how [many] <mass> do|does|did|is|was -> much",
            "there [is|are many] <mass> <end>|in|from|about|on|to|at|with|for|that|which -> is much",
        ),
        (
            "I have too {many|much} homework.",
            "How {many|much} money do you need?",
            "There {is many|is much} information.",
        ),
        ("There are too many money managers.", "How many information systems are there?", "We have much homework."),
    ),
    Rule(
        "much people",
        (
            "how [much] apples|oranges|bananas|eggs|potatoes|tickets|files|lines|books|pages do|did i|you|we|they -> many",
            "too|so|there|are|were|have|has|with [much] people|students|things|problems|friends|books|countries|cars|children|mistakes -> many",
        ),
        ("There are too {much|many} people.", "We have {much|many} problems.", "How {much|many} apples do you want?"),
        (
            "How much people like it!",
            "It shows how much things have changed.",
            "I ask how much tickets are.",
            "See how much people can do.",
            "There is much to do.",
            "It has much power.",
        ),
    ),
    Rule(
        "childs",
        (
            "[childrens] are|were|have|who|in|to|can|should|<end> -> children",
            "!a|an|the|every|each|this|my|his|her [<wrong-plural>] -> $1",
        ),
        ("She has two {childs|children}.", "Many {sheeps|sheep} are out."),
        ("The child's toy is red.", "It is a childs play.", "His wife's car is new.", "A thief's hand was there."),
    ),
    Rule(
        "two womans",
        (
            "<many>|some|most|other|young|old [womans] -> women",
            "<many>|some|most|other|young|old|# [mans] <end>|in|on|at|and|are|were|have -> men",
            "<number>|#|both|my|your|his|her|their [foots] -> feet",
            "<number>|#|many|most|some|these|young|old|poor|rich|other [peoples] think|like|want|don't|say|know|go|buy|love|use -> people",
            "lot|lots of [peoples] -> people",
            "<number>|#|most [peoples] <end>|in|at|on -> people",
            "their|our [lifes] -> lives",
        ),
        ("I saw two {womans|women}.", "Most {peoples|people} think so.", "It changed their {lifes|lives}."),
        ("She mans the desk.", "The peoples of the north met.", "He foots the bill.", "Many peoples have kings."),
    ),
    Rule(
        "many book",
        (
            "<many> <adjective>? [<person-to-plural>] <follows> -> $1",
            "many|several|<number> [<unit-to-plural>] <end>|in|ago|later|because|but|before -> $1",
            "these [day] <end>|i|we|they|people -> days",
        ),
        (
            "I have many {book|books}.",
            "She has two {brother|brothers} in Rome.",
            "He came three {year|years} ago.",
            "There are many different {language|languages} in it.",
        ),
        (
            "It is a two car garage.",
            "Many student groups met.",
            "These person names are odd.",
            "He won it many times.",
            "Both man and wife came.",
        ),
    ),
    Rule(
        "one of the best book",
        (
            "one of the|my|his|her|our|their <superlative>|<adjective>? [<noun-to-plural>] <end>|i|in|that|which|who|is|was|for|to|why|where|we|you|he|she|they -> $1",
            "one of the|my|his|her|our|their most <any> [<noun-to-plural>] <end>|i|in|that|which|who|is|was|for|to|of -> $1",
            "one of the|my|his|her|our|their <superlative> [<noun-to-plural>] of -> $1",
            "each of the|my|your|our|these|those [<noun-to-plural>] have|has|is|are|was|were|<end> -> $1",
        ),
        (
            "It is one of the best {book|books}.",
            "One of my {friend|friends} is here.",
            "Each of the {student|students} has a book.",
            "It was one of the most important {thing|things} to do.",
        ),
        (
            "It is one of the best books.",
            "One of the car doors was open.",
            "He is one of the company men.",
            "One of the oldest house rules is this.",
        ),
    ),
    Rule(
        "every days",
        (
            "every|each|another [<each-plural>] <end>|in|i|is|was|has|because|when -> $1",
            "a|an [<each-plural>] <full-end> -> $1",
            "a [women] who|is|was|in|with|<end> -> woman",
            "a [men] who|is|was|in|with|<end> -> man",
            "a [children] who|is|was|in|with|<end> -> child",
        ),
        (
            "I go there every {days|day}.",
            "He has a {cars|car}.",
            "I met a {women|woman} who knew him.",
            "Each {students|student} has one.",
        ),
        ("Every two days he comes.", "It is a games room.", "A women's club met.", "It is a long way."),
    ),
    Rule(
        "two years old",
        (
            "i [have] <number>|# years old <end>|and -> am",
            "he|she [has] <number>|# years old <end>|and -> is",
            "i [had] <number>|# years old <end>|and -> was",
            "^ i [have # years] and i|my|live|work|study|am -> am $2 years old",
            "^ he|she [has # years] and he|she|his|her|lives|works|studies|is -> is $2 years old",
            "^ i [have # years] <full-end> -> am $2 years old",
        ),
        (
            "I {have|am} 20 years old.",
            "I {have 25 years|am 25 years old} and I live in Rome.",
            "She {has|is} ten years old and lives here.",
            "She {has 20 years|is 20 years old} and lives in Madrid.",
        ),
        ("I am 20 years old.", "He has two years old cheese must wait.", "They have ten years left."),
    ),
    Rule(
        "less accidents",
        ("!or|no [less] <fewer> -> fewer",),
        (
            "There will be {less|fewer} accidents.",
            "He has {less|fewer} friends than me.",
            "It takes {less|fewer} steps.",
        ),
        ("It is less work.", "They are more or less friends.", "It costs less.", "A less things-driven life is good."),
        confidence=0.9,
    ),
    Rule(
        "timeout in second",
        (
            "time|timeout|delay|duration|interval|age|period|latency|length in [<measure>] <end>|of|between|for|after|before|until -> $1",
        ),
        ("You can give the timeout in {second|seconds}.", "It is the time in {minute|minutes} between two runs."),
        ("This is the first time in second grade.", "It is a time in seconds.", "He came in second."),
    ),
    Rule(
        "how long time",
        ("how [long time] does|do|did|will|has|have|would|should -> long",),
        ("How {long time|long} does it take?", "How {long time|long} have you been here?"),
        ("How long does it take?", "How long time travel takes is known.", "It was a long time."),
    ),
)

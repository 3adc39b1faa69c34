"""Verbs in the present where a time in the past stands beside them."""

from __future__ import annotations

from typing import Final

from reviser.proofreading.phrases.rules import Rule

TENSES: Final = (
    Rule(
        "is broken since",
        (
            "[<be-to-been>] <lasts> since <since> -> $1",
            "[<be-to-been>] <lasts> since <number>|#|many|several|some|a <span>|long|few|while|couple -> $1",
            "[<be-to-been>] broken|ill|sick for|since a|<number>|#|many|several|some <span>|long|few|while -> $1",
        ),
        (
            "The printer {is|has been} broken since Monday.",
            "They {are|have been} married since 2010.",
        ),
        (
            "It has been broken since Monday.",
            "The shop is closed for two weeks.",
            "The shop is closed since it is late.",
            "It is open.",
        ),
    ),
    Rule(
        "I am living here since",
        (
            "[<be-to-been>] <doing> here|there|together|outside|hard|german|english|spanish? since <since> -> $1",
            "[<be-to-been>] <doing> here|there|together? since <number>|#|many|several|some|a <span>|long|few|while|couple -> $1",
            "[<be-to-been>] <doing> in|at|for|with? @ since <since> -> $1",
            "[<be-to-been>] <doing> in|at|for|with? @ since <number>|#|many|several|some|a <span>|long|few|while|couple -> $1",
            "[<be-to-been>] <doing> in|at|on|for|with the|a|my|your|his|her|our|their <object> since <since> -> $1",
            "[<be-to-been>] waiting for it|him|her|them|you|me|us for|since half|<number>|#|several|over|almost|nearly -> $1",
            "[<be-to-been>] waiting for the|a|my|your|his|her|our|their <object> for|since half|<number>|#|several|over|almost|nearly -> $1",
            "[<be-to-been>] waiting the bus|train since|for half|<number>|#|several|over|almost|nearly -> $1",
            "[<i'm-to-been>] <doing> in|at|for|with? @|here|there|together? since <since> -> $1",
            "[<i'm-to-been>] <doing> in|at|for|with? @|here|there|together? since <number>|#|many|several|some|a <span>|long|few|while|couple -> $1",
            "i|he|she|it|we|they [<be-to-been>] in|at|on the|this|a|my|our <any> since <since> -> $1",
            "[<be-to-been>] <doing> in|at|on|for|with|it|him|her|them|this|the <object>? since <since> -> $1",
        ),
        (
            "I {am|have been} living here since last year.",
            "It {is|has been} raining since yesterday.",
            "We {are|have been} working on it since January.",
            "I {am|have been} learning English since June.",
            "{I'm|I've been} living in Rome since 2015.",
            "He {is|has been} in the hospital since Monday.",
            "They {are|have been} waiting for the bus for two hours.",
        ),
        (
            "I am living here, since it is cheap.",
            "I have been living here since May.",
            "They are working since they need money.",
            "We are waiting since two people are late.",
        ),
    ),
    Rule(
        "I send it yesterday",
        (
            "<opens>|yesterday i|we|they [<sent-now>] you|him|her|it|them|us|the|a|an|my|our|this|there|to <object>? <object>? yesterday -> $1",
            "<opens>|yesterday i|we|they [<sent-now>] you|him|her|it|them|us|the|a|an|my|our|this|there|to <object>? <object>? last week|month|year|night|summer|<weekday> -> $1",
            "the|this|that <any> you|i|we|they [<sent-now>] me|us|you|him|her|them yesterday -> $1",
            "the|this|that <any> you|i|we|they [<sent-now>] me|us|you|him|her|them last week|month|year|night|<weekday> -> $1",
            "^ yesterday i|we|they [<base-to-past>] -> $1",
            "^ last week|month|year|night|summer i|we|they [<base-to-past>] -> $1",
        ),
        (
            "I {send|sent} you the files yesterday.",
            "We {meet|met} him last week.",
            "Yesterday I {go|went} to the zoo.",
            "Yesterday we {move|moved} the servers.",
            "Last year we {visit|visited} Rome.",
            "The file you {send|sent} me yesterday is good.",
        ),
        (
            "I send you the files from yesterday.",
            "Did I send it yesterday?",
            "I sent it yesterday.",
            "We meet the man who came yesterday.",
            "I buy the paper of last week.",
        ),
        confidence=0.9,
        quoted=False,
        unless="did|didn't|does|do|will|would|can|could",
        unless_with="every|always|usually|often|never",
    ),
    Rule(
        "the first time I am here",
        (
            "this|it is the first|second|third time that? i|we [<have-done>] -> $1",
            "it's the first|second|third time that? i|we [<have-done>] -> $1",
        ),
        (
            "This is the first time I {am|have been} here.",
            "It is the second time that we {see|have seen} it.",
        ),
        (
            "This is the first time I have been here.",
            "It was the first time I saw it.",
            "The first time I see it is now.",
        ),
        quoted=False,
    ),
    Rule(
        "I have seen him yesterday",
        (
            "^ yesterday i|you|we|they [have <done-to-past>] -> $2",
            "^ yesterday he|she|it [has <done-to-past>] -> $2",
            "^ last week|month|year|night|summer|<weekday> i|you|we|they [have <done-to-past>] -> $2",
            "^ last week|month|year|night|summer|<weekday> he|she|it [has <done-to-past>] -> $2",
            "^ i|we|they|you [have <done-to-past>] you|him|her|it|them|us|the|a|an|my|your|our|this|there|to|in|at <object>? <object>? yesterday -> $2",
            "^ he|she [has <done-to-past>] you|him|her|it|them|us|the|a|an|his|her|our|this|there|to|in|at <object>? <object>? yesterday -> $2",
            "^ i|we|they|you [have <done-to-past>] you|him|her|it|them|us|the|a|an|my|your|our|this|there|to|in|at <object>? <object>? last week|month|year|night|summer|<weekday> <full-end> -> $2",
            "^ he|she [has <done-to-past>] you|him|her|it|them|us|the|a|an|his|her|our|this|there|to|in|at <object>? <object>? last week|month|year|night|summer|<weekday> <full-end> -> $2",
            "^ i|we|they|you [have] <regular-done> you|him|her|it|them|us|the|a|an|my|your|our|this|there|to|in|at|with <object>? <object>? yesterday -> ",
            "^ he|she [has] <regular-done> you|him|her|it|them|us|the|a|an|his|her|our|this|there|to|in|at|with <object>? <object>? yesterday -> ",
            "^ i|we|they|you|he|she [have|has <done-to-past>] @|the|a|an|my|our|his|her|him|it|them|this|that|you|me|us <object>? <number>|#|several|some|many <span> ago -> $2",
            "^ i|we|they|you|he|she [have|has <done-to-past>] @|the|a|an|my|our|his|her|him|it|them|this|that|you|me|us <object>? a few? <span> ago -> $2",
            "^ i|we|they|you|he|she [have|has] <regular-done> @|the|a|an|my|our|his|her|him|it|them|this|that|you|me|us <object>? <number>|#|several|some|many <span> ago -> ",
            "^ i|we|they|you|he|she [have|has] <regular-done> @|the|a|an|my|our|his|her|him|it|them|this|that|you|me|us <object>? a few? <span> ago -> ",
            "^ i|we|they|you|he|she [have|has been] to @|the|a|my <any>? <number>|#|several|some|many <span> ago -> went",
            "^ [i've <done-to-past>] @|the|a|an|my|our|his|her|him|it|them|this|that|you <object>? yesterday -> I $2",
            "^ [i've <done-to-past>] @|the|a|an|my|our|his|her|him|it|them|this|that|you <object>? last week|month|year|night|summer|<weekday> <full-end> -> I $2",
            "^ i|he|she [have|has been] in|at @|the|a|my <any>? yesterday -> was",
            "^ i|he|she|we|they [have|has been] to @|the|a|my <any>? yesterday -> went",
            "^ i|he|she|we|they [have|has been] to @|the|a|my <any>? last summer|winter|spring|autumn|fall|week|month|year|night|<weekday> -> went",
            "^ i|he|she [have|has been] in|at @|the|a|my <any>? last week|month|year|night|summer|<weekday> -> was",
        ),
        (
            "Yesterday I {have seen|saw} him at school.",
            "I {have met|met} her yesterday.",
            "I{ have|} received the documents yesterday.",
            "Last week she {has written|wrote} to me.",
            "I {have been|was} in Paris last year.",
            "She {has been|went} to Paris last summer.",
            "I{ have|} visited Rome two years ago.",
            "{I've seen|I saw} him last week.",
            "We {have seen|saw} it a few days ago.",
        ),
        (
            "I have seen it since yesterday.",
            "Have you seen him yesterday?",
            "I have met her.",
            "We have seen the man who came yesterday.",
        ),
        confidence=0.9,
        quoted=False,
    ),
)

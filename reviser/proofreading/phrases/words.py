"""Words that stand twice, the two forms of the article, comparisons, and words taken for others."""

from __future__ import annotations

from typing import Final

from reviser.proofreading.phrases.rules import Rule

WORDS: Final = (
    Rule(
        "doubled word",
        ("<doubled> [=] -> ", "!<phrasal> in|on [=] -> "),
        (
            "He went to the{ the|} shop.",
            "It is one of{ of|} them, red and{ and|} cold.",
            "The{ the|} cat sat there.",
        ),
        (
            "I know that that is true.",
            "He had had enough.",
            "Nothing was going on on the screen.",
            "It is very very good.",
            "No no, so so, bye bye.",
            "They went in. In the house it was warm.",
            "The The are a band.",
        ),
    ),
    Rule(
        "is is",
        ("!^|it|that|this|there is|was|are|were [=] -> ",),
        ("The house is{ is|} old.", "They were{ were|} tired."),
        (
            "What it is is a question.",
            "All he has is is.",
            "The one that is is mine.",
            "It is what it was was.",
        ),
        unless="what|all|who|where|how|whatever",
    ),
    Rule(
        "a before a vowel",
        (
            "!vitamin|letter|grade|plan|type|character|first|second|the|your|this|that|each|every [a] <a-vowel> -> an",
        ),
        (
            "It is {a|an} old house.",
            "We waited {a|an} hour.",
            "She is {a|an} American girl.",
            "{A|An} apple fell.",
        ),
        (
            "It is a useful thing.",
            "She is a European.",
            "A one is a number.",
            "It is a unary operator, by a unanimous vote.",
            "Both a and b are open.",
            "He has a uniform.",
            "A university is near.",
            "It matches the first a element.",
        ),
    ),
    Rule(
        "an before a consonant",
        ("[an] <a-consonant> -> a",),
        (
            "It is {an|a} big house.",
            "He is {an|a} user of it.",
            "{An|A} university is there.",
            "He is {an|a} German student.",
        ),
        (
            "It took an hour.",
            "She is an honest person.",
            "An historic day came.",
            "He sent an SMS.",
            "It is an unimportant detail.",
            "He wrote an nginx module.",
        ),
    ),
    Rule(
        "more taller",
        (
            "[more <comparative>] yesterday|here|there|last|before -> $2",
            "[more <comparative>] than|because|to|and|now|soon|today|every|in|at|if|when|for|with|<end> -> $2",
            "[much more <comparative>] than|because|to|and|now|soon|today|every|in|at|if|when|for|with|<end> -> much $3",
            "the|my|his|her|our|their|its|your [most <superlative>] -> $2",
            "is|are|was|were|get|gets|got|become|becomes|became|even|much [more bad] <full-end> -> worse",
        ),
        (
            "He is {more taller|taller} than me.",
            "It is {much more easier|much easier} now.",
            "I hope that it gets {more better|better} soon.",
            "It was the {most easiest|easiest} way.",
        ),
        (
            "There are more older people now.",
            "It is more or less better.",
            "Most best sellers are long.",
            "The more smaller parts there are, the better.",
        ),
    ),
    Rule(
        "more tall than",
        (
            "[more <to-comparative>] than me|you|him|her|us|them|my|your|his|her|our|their|the|i|we|they|he|she|before|last|other|others|any|@ -> $2",
            "the|my|his|her|our|your|its [most <to-superlative>] <noun-to-plural> -> $2",
            "the|my|his|her|our|your [worse] day|thing|movie|film|experience|mistake|book|year|time|moment|job|trip|hotel|service|part of|i|i've|i'd|ever|in -> worst",
        ),
        (
            "She is {more tall|taller} than her sister.",
            "It was the {worse|worst} day of my life.",
            "It is the {most tall|tallest} building here.",
        ),
        (
            "It is more wide than tall.",
            "She is taller than him.",
            "The worse of the two won.",
            "It hurts the most poor people.",
            "It attracts the most young voters.",
            "It was a worse day than the last.",
        ),
    ),
    Rule(
        "very better",
        ("!the [very] <comparative> than -> much",),
        ("It is {very|much} better than that.", "He is {very|much} taller than me."),
        (
            "It is very good.",
            "The very older ones than these went.",
            "It is much better than that.",
        ),
    ),
    Rule(
        "better then",
        (
            "<comparative> [then] the|a|an|any|my|his|her|their|our|your|its|me|him|them|us|most|all|other|others|this|these|those|before|usual|expected -> than",
            "more|less|fewer|other [then] <number>|#|one|just|half|ever|enough|likely|any|anything|the|a|an|my|his|her|their|our|your|its|that|this|usual|before -> than",
            "more <adjective> food|foods|people|things? [then] before|the|me|him|them|us|my|his|her|any|others -> than",
            "rather [then] <ing> -> than",
            "rather [then] the|a|an|to|in|on|with|my|his|her|their|just -> than",
        ),
        (
            "She is taller {then|than} me.",
            "It took more {then|than} two days.",
            "He stayed rather {then|than} going home.",
            "We eat more healthy foods {then|than} before.",
        ),
        (
            "Things were better then.",
            "It was easier then, the old man said.",
            "If he is older then the rule holds.",
            "We rest more then.",
        ),
        unless="if|when|once|unless|where|whenever|first|until",
    ),
    Rule(
        "to much",
        (
            "have|has|had|having|way|eat|ate|drink|drank|spend|spent|takes|cost|costs|got|far [to] much -> too",
            "have|has|had|having|way|eat|ate|drink|drank|spend|spent|got|far [to] many -> too",
            "there is|are|was|were [to] much|many -> too",
            "is|are|was|it's|be|i'm|you're [to] late|expensive|difficult|big|small|young|old|busy|dangerous|tired|hot|lazy|heavy|weak -> too",
        ),
        (
            "He has {to|too} much work.",
            "There are {to|too} many cars.",
            "It is {to|too} late.",
        ),
        (
            "It happens to many people.",
            "That leads to much better work.",
            "From early to late he works.",
            "She went to old friends.",
        ),
    ),
    Rule(
        "alot",
        (
            "[alot] -> a lot",
            "[a lots of] -> a lot of",
            "[unpolite] -> impolite",
            "[highschool] -> high school",
            "[aswell] as|<end> -> as well",
            "[atleast] -> at least",
            "[eachother] -> each other",
            "as [follow] :|. -> follows",
            "[expensiver] -> more expensive",
            "have|has|had|with|are|learn|spend|spent|eat|got [lot of] -> a lot of",
        ),
        (
            "I like it {alot|a lot}.",
            "There are {a lots of|a lot of} cars.",
            "We have {lot of|a lot of} time.",
            "It is done as {follow|follows}:",
        ),
        ("I like it a lot.", "Lots of people came.", "The first lot of them went."),
    ),
    Rule(
        "loose weight",
        (
            "to|will|can|could|would|might|may|must|should|not|don't|didn't|won't|i|you|we|they|and [loose] <lost> -> lose",
            "[loosing] <lost> -> losing",
            "to|will|can|could|would|might|may|must|should|not|don't|didn't|won't [loose] my|your|his|her|our|their|the job|mind|way|game|match|temper|memory|phone|key|keys|chance|money -> lose",
        ),
        (
            "We need to {loose|lose} weight.",
            "I am {loosing|losing} patience.",
            "You will {loose|lose} your job.",
        ),
        (
            "It has some loose weight in it.",
            "The loose money fell.",
            "He let loose the dogs.",
        ),
    ),
    Rule(
        "planing to",
        ("am|is|are|was|were|been|be|i'm|we're|they're|you're [planing] to|on -> planning",),
        ("We were {planing|planning} to go.", "I'm {planing|planning} on it."),
        ("He is planing the door.", "We are planning to go.", "She was planing a board to size."),
    ),
    Rule(
        "the whether",
        (
            "the|nice|good|bad|cold|warm|hot [whether] is|was|gets|got|will|in|today|forecast -> weather",
        ),
        ("The {whether|weather} is nice.", "I hope the {whether|weather} gets better."),
        (
            "The question whether it rains is open.",
            "I ask whether it is good.",
            "It is good whether you like it or not.",
        ),
    ),
    Rule(
        "its a",
        (
            "[its] a|the|been|called !cappella -> it's",
            "[its] not a|an|the|my|that|only|just|fair|true|about|like|going|possible|clear|enough|too|so|always|because|worth|easy -> it's",
            "[its] going to be|have|get|make|take|rain -> it's",
            "[its] just|only|really|also|still a|the -> it's",
            "[its] important|necessary|impossible|nice to -> it's",
            "^ [its] time to -> it's",
        ),
        (
            "{Its|It's} a good day.",
            "I think {its|it's} not fair.",
            "I know {its|it's} been long.",
        ),
        (
            "The dog has its own bed.",
            "Its not insignificant role is known.",
            "It lost its way.",
            "It's a good day.",
        ),
    ),
    Rule(
        "it's own",
        (
            "[it's] own -> its",
            "<any> [it's] <body> <end>|and|in|at|on|with|to -> its",
            "[you're] own -> your",
            "[they're] own -> their",
            "[there] own -> their",
        ),
        (
            "It has {it's|its} own door.",
            "The dog wagged {it's|its} tail.",
            "They have {there|their} own car.",
            "Use {you're|your} own pen.",
        ),
        (
            "It has its own door.",
            "They own it there.",
            "It's our own.",
        ),
    ),
    Rule(
        "your welcome",
        (
            "^ [your] welcome <full-end> -> you're",
            "[your] a|an|the !level|levels|element|elements|tag -> you're",
            "[your] not !being|having|going|doing -> you're",
            "[your] going to be|have|get|need|make|see -> you're",
            "think|know|that|if|when|because [your] welcome|sure|happy|ready|tired|sick to|that|of|about -> you're",
        ),
        (
            "{Your|You're} welcome!",
            "I know {your|you're} a good friend.",
            "I think {your|you're} going to be late.",
        ),
        (
            "Thanks for your welcome.",
            "Your welcome was warm.",
            "You're welcome!",
            "Your not being there was noticed.",
        ),
    ),
    Rule(
        "who's name",
        (
            "[who's] name|names|father|mother|parents|job|fault|idea|house|children|wife|husband|responsibility|turn|decision|phone|car|bag -> whose",
            "^ [who's] <object> is|are|was|were this|that|it|these|those|they ? -> whose",
            "[whose] been|going -> who's",
        ),
        (
            "A man {who's|whose} name I forgot came.",
            "{Who's|Whose} bag is this?",
            "I know {whose|who's} been here.",
        ),
        (
            "Who's there?",
            "A man whose name I forgot came.",
            "The man who's been here left.",
        ),
    ),
    Rule(
        "there house",
        (
            "in|of|with|about|for|love|lost|change|leave [there] <possession> !is|are|can|could|will|would|were|was|have -> their",
            "^|that|and|because|but|if|think [their] is|are|was|were|isn't|aren't -> there",
        ),
        (
            "They live with {there|their} parents.",
            "{Their|There} are two cats.",
            "I think {their|there} is a way.",
        ),
        (
            "He is in there.",
            "From there children can see it.",
            "Their house is old.",
        ),
    ),
    Rule(
        "know weather",
        (
            "know|wonder|sure|decide|asked|see|matter|matters [weather] i|you|he|she|it|we|they|to|or -> whether",
        ),
        ("I don't know {weather|whether} he comes.", "She asked {weather|whether} it was open."),
        ("I like the weather.", "They know weather well.", "We wonder whether it is true."),
    ),
    Rule(
        "an affect on",
        (
            "a|an|no|any|big|great|huge|negative|positive|bad|good|significant|strong|little|an [affect] on -> effect",
        ),
        ("It has a big {affect|effect} on us.", "It had no {affect|effect} on me."),
        ("It may affect on-going work.", "They affect us.", "It has an effect on us."),
    ),
    Rule(
        "I advice you",
        (
            "to|would|can|will|i [advice] you|him|them|everyone|people -> advise",
            "good|my|your|his|her|their|of|some [advise] <end>|about|on|for|from -> advice",
        ),
        (
            "I {advice|advise} you to go.",
            "Thanks for your {advise|advice}.",
        ),
        (
            "I advise you to go.",
            "Some advise against it.",
            "My advice to you is this.",
        ),
    ),
    Rule(
        "quiet a lot",
        ("[quiet] a lot|few|bit -> quite",),
        ("He reads {quiet|quite} a lot.", "There were {quiet|quite} a few people."),
        ("It is a quiet place.", "They kept quiet a while.", "He reads quite a lot."),
    ),
    Rule(
        "we where",
        (
            "we|they [where] <ing> -> were",
            "we|they [where] not|very|so|happy|late|tired|young -> were",
            "^ [were] is|are|did|do -> where",
        ),
        (
            "We {where|were} going home.",
            "They {where|were} very tired.",
            "{Were|Where} is the cat?",
        ),
        (
            "We were going home.",
            "They asked where it was.",
            "Were they there?",
            "He told me where.",
        ),
    ),
    Rule(
        "to here from you",
        ("to [here] from you|him|her|them -> hear",),
        ("I hope to {here|hear} from you.", "We want to {here|hear} from them."),
        ("Come here from there.", "It is far to here.", "I hope to hear from you."),
    ),
    Rule(
        "have lead to",
        ("has|have|had|been [lead] to|by -> led",),
        ("It has {lead|led} to this.", "They have been {lead|led} by fools."),
        ("They have lead in it.", "It may lead to this.", "It has led to this."),
    ),
    Rule(
        "lets go",
        ("^ [lets] go|see|talk|start|begin|say|look|not|be -> let's",),
        ("{Lets|Let's} go home.", "{Lets|Let's} see what comes."),
        ("He lets go of it.", "Lets you write.", "Let's go home."),
    ),
    Rule(
        "i'am",
        ("[i'am] -> I'm", "^ [i am|i'm] want|know|think|hope|believe|have|need -> I"),
        ("{I'am|I'm} here.", "{I am want|I want} to go."),
        ("I am here.", "What I am have others been.", "Here I am, want it or not."),
    ),
    Rule(
        "interesting in",
        (
            "i am|was very|really|also|not? [interesting] in -> interested",
            "i'm|we're very|really|also|not? [interesting] in -> interested",
            "i am|was so|very|really? [exciting] about -> excited",
            "i'm so|very|really? [exciting] about -> excited",
        ),
        ("I am {interesting|interested} in music.", "I'm so {exciting|excited} about it."),
        (
            "It is interesting in a way.",
            "I am interested in music.",
            "That was exciting about him.",
        ),
    ),
    Rule(
        "the film was bored",
        (
            "^|and|but|because the|this|that|my film|movie|book|lesson|lecture|speech|talk|exam|museum|homework is|was very|so|really|too|quite|pretty|a? bit? [bored] -> boring",
            "very|so|really|most|an [interested] book|film|movie|story|article|topic|place|thing|question|game|lesson|experience|city|country|fact -> interesting",
        ),
        (
            "The film was very {bored|boring}.",
            "It is an {interested|interesting} book.",
        ),
        (
            "The class was boring.",
            "He is very interested.",
            "The children of the film were bored.",
            "An interested reader will ask.",
        ),
        confidence=0.9,
        unless="whole|entire",
    ),
    Rule(
        "between you and I",
        ("between you|him|her|them and [i] -> me",),
        ("Between you and {I|me}, it is bad.", "It was between him and {I|me}."),
        (
            "You and I know it.",
            "Between you and me, it is bad.",
            "The wall between, you and I met.",
        ),
        quoted=False,
        confidence=0.9,
    ),
)

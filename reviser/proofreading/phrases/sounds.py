"""Words written for others that sound like them or nearly so: "now" for "know", "your's", "at ones"."""

from __future__ import annotations

from typing import Final

from reviser.proofreading.phrases.rules import Rule

SOUNDS: Final = (
    Rule(
        "like to now",
        (
            "don't|didn't|doesn't|didnt|dont [now] if|what|how|why|where|wether|whether|weather|about|it|that|the -> know",
            "like|want|wanted|wants|need|needed|needs to [now] if|what|how|why|where|wether|whether|weather|about -> know",
            "like|want|wanted|wants|need|needed|needs to [now] more about -> know",
            "let me|us|him|her|them [no|now] <full-end>|if|when|what|how|whether|wether|about -> know",
        ),
        (
            "I would like to {now|know} if it is open.",
            "I don't {now|know} what it is.",
            "Please let us {no|know}.",
            "Let me {now|know} when you come.",
        ),
        (
            "Let us now turn to it.",
            "I want to now more than ever.",
            "You now see it.",
            "Let them now, if you will, be seen.",
            "I want to know if it is open.",
        ),
        unless="are|have|had",
    ),
    Rule(
        "know wether",
        (
            "!a|an|the|this|that|each|every|his|her|my|their|our|one|another|old|young|fat|castrated [wether] i|you|he|she|it|we|they|to|or|the|this|that|these|those|there|my|your|his|her|our|their|its|any|a|an|someone|people|your|you're|it's -> whether",
        ),
        (
            "I do not know {wether|whether} he comes.",
            "Tell me {wether|whether} it works.",
            "{Wether|Whether} or not, we go.",
        ),
        (
            "The wether, they say, is old.",
            "A wether is a sheep.",
            "They sold the wether to him.",
            "I know whether it works.",
        ),
        unless="sheep|ram|ewe|ewes|wethers|wool",
    ),
    Rule(
        "if your going",
        (
            "if|whether|wether|because|hope|think|sure|that|and|but|when|while [your] going|coming|leaving to|home|away|out|back|there|with|today|tomorrow|by|on -> you're",
            "if|whether|wether|because|hope|sure|when|while [your] not|interested|ready|tired|hungry|late|busy|available|able|done|finished|lucky|looking|trying|wondering|planning|thinking -> you're",
        ),
        (
            "Tell me if {your|you're} going to join us.",
            "I hope {your|you're} ready.",
            "Call me when {your|you're} done.",
        ),
        (
            "I think your going there was wise.",
            "If your interested party calls, tell me.",
            "If your late father knew, he would laugh.",
            "Tell me if you're going.",
            "When your finished work is sent, rest.",
        ),
        confidence=0.9,
        unless_with="father|mother|wife|husband|party|was|were|is|would|work",
    ),
    Rule(
        "for you're help",
        (
            "for|of|with|about|from|to|in|at|on|by [you're] help|mail|email|e-mail|letter|message|reply|answer|answers|time|patience|support|work|job|advice|family|friend|friends|parents|house|name|address|question|questions|opinion|feedback|team|company|website|computer|phone|life|country|school|teacher|interest|attention|understanding|kindness|visit|trip|room|car|dog|cat|book|idea|own -> your",
        ),
        ("Thank you for {you're|your} help.", "I think of {you're|your} family."),
        ("You're help and comfort to me.", "It is what you're for, you're told.", "Thank you for your help."),
    ),
    Rule(
        "but its very hard",
        (
            "and|but|so|because|think|hope|that|if|when|as|, [its] very|so|too|really|quite|pretty|rather hard|easy|difficult|good|bad|nice|important|late|early|expensive|cheap|cold|hot|big|small|fun|useful|interesting|boring|sad|beautiful|useful|fast|slow|simple <end>|to|for|that|here|there|and|but|in|because -> it's",
            "and|but|so|because|think|hope|that|,|^ [its] late|raining|snowing|true|impossible|obvious|okay|ok <end>|here|now|that|outside|and|but -> it's",
            "^ [its] very|so|too|really|quite|pretty|rather hard|easy|difficult|good|bad|nice|important|late|early|expensive|cheap|cold|hot|big|small|fun|useful|interesting|boring|sad|beautiful|useful|fast|slow|simple <end>|to|for|that|here|there|because -> it's",
        ),
        (
            "I must go, {its|it's} late.",
            "He is old, but {its|it's} very difficult to say.",
            "{Its|It's} too late for that.",
        ),
        ("I like its very good sound.", "It is old, and its very big windows are dark.", "It's very difficult to say."),
    ),
    Rule(
        "todays run",
        (
            "!the|of|many|all|our|these|those|no [todays] <any> -> today's",
            "!the|of|many|all|our|these|those|no [tonights] <any> -> tonight's",
            "by|in|from|about|since|for|at [<days-of>] <any> -> $1",
        ),
        ("I checked {tonights|tonight's} run.", "{Todays|Today's} young people are tall."),
        ("All our yesterdays have lighted fools.", "There are many tomorrows left.", "It is today's run."),
    ),
    Rule(
        "and than he left",
        (
            "and|but [than] i|he|she|we|they|you|it had|was|were|went|came|left|said|told|took|got|saw|made|will|would|can|could|have|has|is|are|did|do -> then",
            "^ [than] i|he|she|we|they|you|it <past>|will|would|can|could|have|has|is|are|go|get -> then",
            "^ [than] , -> then",
        ),
        ("We talked, and {than|then} he had to go.", "{Than|Then} we went home."),
        ("It is bigger than it was, and better than he had said.", "Then we went home.", "It is more than he can do."),
    ),
    Rule(
        "your's",
        ("[your's] -> yours", "[her's] <end>|and|is|was|or -> hers", "[our's] -> ours", "[their's] -> theirs"),
        ("{Your's|Yours} sincerely,", "It is {our's|ours}.", "The book is {her's|hers}."),
        ("It is yours.", "Her sister's book is ours.", "Theirs is new."),
        quoted=False,
    ),
    Rule(
        "at ones",
        (
            "all|do|it|them|things|everything at [ones] <end>|and|or|when|because -> once",
            "come|comes|came|go|goes|went|leave|left|stop|stopped|start|started|reply|back at [ones] <full-end>|and|when|because -> once",
        ),
        ("They came all at {ones|once}.", "Do it at {ones|once}."),
        ("They look at ones that are new.", "At once it began.", "He points at tens and at ones."),
    ),
    Rule(
        "I except your apology",
        (
            "i|we|to|please|will|cannot|can't|can|you [except] your|my|his|her|our|their|this|the apology|apologies|offer|invitation|gift|proposal|challenge|job -> accept",
            "[complemented] me|him|her|us|them on -> complimented",
            "[stationary] shop|shops|store|stores|supplies -> stationery",
            "the [principal] of least privilege|astonishment|surprise|action -> principle",
            "my|our|the|his|her school|high-school [principle] <end>|is|was|said|says|told|has|and -> principal",
            "[peace] of cake -> piece",
            "a [peace] of paper|cheese|bread|code|meat|wood|cloth|furniture|software|luggage -> piece",
            "have|has|had|with|having [know] idea|clue|reason|problem|time|money|choice|doubt -> no",
            "all [intensive] purposes -> intents and",
            "!if|when|whether|as|because|since|once|while|that [they're] house|houses|car|cars|parents|children|kids|son|daughter|dog|names|name is|was|are|were|has|have|had -> their",
            "i|he|she|we|they|and [felt] asleep -> fell",
        ),
        (
            "I {except|accept} your apology.",
            "It was a {peace|piece} of cake.",
            "I have {know|no} idea what he means.",
            "{They're|Their} house is bigger.",
            "He lay down and {felt|fell} asleep.",
            "For all {intensive|intents and} purposes, it is done.",
        ),
        (
            "All agree, we except the terms above.",
            "They made a peace of sorts.",
            "They're kids who are happy.",
            "If they're children are they free?",
            "They are all of intensive use.",
            "The people you have know it.",
            "My leg felt asleep.",
        ),
    ),
    Rule(
        "every body knows",
        (
            "^|that|because|but|and|if [every body] knows|should|likes|wants|says|thinks|loves|else|needs -> everybody",
            "^|that|because|but|and|if|not [every one] knows|should|likes|wants|says|thinks|loves|else|needs -> everyone",
        ),
        ("I know that {every body|everybody} likes it.", "{Every one|Everyone} knows her."),
        (
            "Every body of water is deep.",
            "Everybody likes it.",
            "Every one of them knows.",
            "The law that every body falls is old.",
        ),
    ),
    Rule(
        "by my self",
        (
            "[my self] <end>|and|to|in|with|that|because|i -> myself",
            "[them self|selves] -> themselves",
            "[him self] -> himself",
            "by|about|for|to|of [your self] <end>|and|in|with|to -> yourself",
        ),
        (
            "I did it {my self|myself}.",
            "They help {them self|themselves}.",
            "He told {him self|himself} to go.",
            "Be proud of {your self|yourself}.",
        ),
        ("It gave my self-esteem a boost.", "I am myself again.", "Your self is yours."),
    ),
)

"""Small words that are missing, or too many: articles, "to", "it", "of"."""

from __future__ import annotations

from typing import Final

from reviser.proofreading.phrases.rules import Rule

SMALL_WORDS: Final = (
    Rule(
        "because is",
        (
            "because [is] a|an|the|very|not|so|too|more|really|hard|difficult|easy|important|good|better|interesting|beautiful|cheap|near -> it is",
            "^ in the? summer|winter|spring|autumn|january|february|july|august|november|december [is] very|so|too|really|always|usually|often hot|cold|warm|humid|dry|windy|sunny|rainy -> it is",
            "^ in my opinion ,? [is] a|the|very|not|important|good|better|interesting|necessary|difficult|easy -> it is",
            "^ i think [is] a|an|the|very|not|important|good|better|interesting|necessary -> it is",
            "know|ask|asking|wonder|see|check|if|me|you if [is] possible|necessary|better|ok|okay|true -> it is",
            "^ in|at my|our|your|this|that country|city|town|region|village|area|home [is] very|so|too|really|always|usually|often hot|cold|warm|humid|dry|windy|noisy|quiet|sunny|rainy|expensive|cheap|easy|difficult|hard|common -> it is",
            "^ in|at my|our|your|this|that country|city|town|region|village|area|home , [is] very|so|too|really|always|usually|often hot|cold|warm|humid|dry|windy|noisy|quiet|sunny|rainy|expensive|cheap|easy|difficult|hard|common -> it is",
        ),
        (
            "I like it because {is|it is} very old.",
            "I think {is|it is} better to go.",
            "In my opinion, {is|it is} better to stay.",
            "I want to know if {is|it is} possible.",
            "In my country {is|it is} very hot in summer.",
        ),
        (
            "I like it because it is old.",
            "That I think is a mistake.",
            "The one who left because is mine.",
            "In my country, very hot is normal.",
            "See if possible.",
        ),
    ),
    Rule(
        "although it rained, but",
        (
            "^ although|though <any> <any> <any>? <any>? <any>? <any>? , [but] i|he|she|it|we|they|you|the|there|my|his|her|our|their -> ",
            "^ even though <any> <any> <any>? <any>? <any>? <any>? , [but] i|he|she|it|we|they|you|the|there|my|his|her|our|their -> ",
        ),
        ("Although it was raining,{ but|} we went for a walk.", "Even though he is old,{ but|} he runs."),
        (
            "Although it was raining, we went out.",
            "It rained, but we went out.",
            "Although it rained, nobody stayed, but we went home.",
            "Although old, but sturdy, it stood.",
        ),
        confidence=0.9,
    ),
    Rule(
        "people who is",
        ("people|those|students|children|men|women who [<is-to-was>] -> $1",),
        ("I know people who {is|are} rich.", "Those who {has|have} time can stay."),
        ("He is one of those who is never late.", "The man who is here knows.", "People who are rich travel."),
        unless="one|only",
    ),
    Rule(
        "all kind of",
        (
            "many|all|several|various|<number> [kind] of -> kinds",
            "many|all|several|various|<number> [type] of -> types",
            "many|all|several|various|<number> [sort] of -> sorts",
        ),
        ("There are many {kind|kinds} of food.", "We saw all {type|types} of cars."),
        ("It is a different kind of food.", "All kinds of people came.", "They are all sort out."),
    ),
    Rule(
        "some of my friend",
        (
            "some|many|most|two|three|few|several|all|both of my|his|her|our|their|your [<sure-noun-to-plural>] <follows> -> $1",
            "lot|lots of [<sure-noun-to-plural>] <follows> -> $1",
        ),
        ("Some of my {friend|friends} are here.", "He has a lot of {idea|ideas}."),
        ("Some of my friends are here.", "He did a lot of student work.", "Most of my book collection is old."),
    ),
    Rule(
        "an other",
        ("[an other] -> another", "[others] people|things|countries|students|ways|animals|places -> other"),
        ("Give me {an other|another} one.", "I like {others|other} people."),
        ("Give me another one.", "The others came late.", "I like other people."),
        confidence=0.9,
        unless="for|to",
    ),
    Rule(
        "in internet",
        (
            "[in|on internet] <end>|and|because|to|you|we|i|when -> on the internet",
            "stay|stayed|staying|was|am|is|are [in] home <end>|and|because|all|with|when -> at",
        ),
        ("I read it {in internet|on the internet}.", "We stayed {in|at} home."),
        ("It is on the internet.", "He works in internet sales.", "He is in home care."),
    ),
    Rule(
        "when I was child",
        (
            "when i|he|she was [child|kid|teenager] -> a $1",
            "i'm [student|teacher|doctor|nurse|lawyer] <end>|and|at|in|of|from -> a $1",
            "i am|was [student|teacher|doctor|nurse|lawyer] <end>|and|at|in|of|from -> a $1",
            "he|she is|was [student|teacher|doctor|nurse|lawyer] <end>|and|at|in|of|from -> a $1",
        ),
        ("It began when I was {child|a child}.", "I am {student|a student} at this school."),
        ("When I was a child, it began.", "He is student president.", "I am teacher enough for that."),
    ),
    Rule(
        "have good time",
        (
            "have|had|having [good|nice|great|wonderful] time|day|weekend|trip|holiday <end> -> a $1",
            "take|took|taking|takes [photo|picture|shower|nap] <end>|of|with|and -> a $1",
        ),
        ("Have {nice|a nice} day!", "We took {photo|a photo} of it."),
        ("They have good time management.", "Have a nice day!", "We took photo albums."),
    ),
    Rule(
        "go to cinema",
        (
            "go|went|going|goes to [cinema|beach|gym|supermarket|park|airport|mall|zoo|library] <end>|and|with|because|every|at|when -> the $1",
        ),
        ("We went to {cinema|the cinema}.", "I go to {gym|the gym} every day."),
        ("We went to the cinema.", "I go to beach parties.", "He goes to school."),
    ),
    Rule(
        "in morning",
        (
            "in [morning|evening|afternoon] <end>|i|we|he|she|they|and|at|because -> the $1",
            "at [same] time|moment|place -> the same",
            "for [first] time <end>|in|i|we|and|when -> the first",
        ),
        ("I get up early in {morning|the morning}.", "They came at {same|the same} time."),
        ("I get up in the morning.", "He came in morning dress.", "It is for first time buyers."),
    ),
    Rule(
        "play the football",
        (
            "play|plays|played|playing [the] football|tennis|basketball|soccer|chess|volleyball <end>|and|with|in|at|every|because|when -> ",
        ),
        ("I play{ the|} football.", "She plays{ the|} tennis every day."),
        ("I play football.", "They play the football game.", "I watched the football."),
    ),
    Rule(
        "able go",
        (
            "am|is|are|was|were|be|been|not able [<sure-base>] -> to $1",
            "as soon [i|he|she|we|you|they|possible] -> as $1",
        ),
        ("I am able {do|to do} it.", "Come as soon {possible|as possible}."),
        ("I am able to do it.", "The strong and able go first.", "Come as soon as possible."),
    ),
    Rule(
        "for improve",
        (
            "[for] improve|communicate|understand|achieve|obtain|avoid|become|create|protect|solve my|your|his|her|our|their|the|a|an|with -> to",
            "[for] celebrate|skip|speak|discuss|explain|find|get|buy|learn|prevent|reduce|increase|keep|prepare|remove|ensure|install with|my|your|his|her|our|their|the|a|an|this|these -> to",
            "in order [for] <sure-base> -> to",
        ),
        ("I came {for|to} improve my English.", "He left in order {for|to} see it."),
        ("I came to improve my English.", "It is good for understanding.", "In order for us to go, wait."),
    ),
    Rule(
        "want to going",
        (
            "want|wants|wanted|decide|decided|hope|hoped|able|plan|planned|need|needs to [<ing-to-base>] -> $1",
            "i|you|he|she|we|they can|could|should|must|will|would|cannot|can't|won't [<ing-to-base>] -> $1",
        ),
        ("I want to {going|go} home.", "You should {speaking|speak} with him."),
        ("I want to go home.", "What he can doing this is.", "We look forward to going."),
        unless="<enough-before>",
    ),
    Rule(
        "let's to go",
        (
            "let's [to] <base> -> ",
            "would rather [to] <base> -> ",
            "had better [to] <base> -> ",
            "you'd|i'd|we'd better|rather [to] <base> -> ",
        ),
        ("Let's{ to|} go home.", "You'd better{ to|} stay."),
        ("Let's go to work.", "I would rather go to see him.", "He had better things to do."),
    ),
    Rule(
        "worth to see",
        (
            "worth [to <base-to-ing>] -> $2",
            "worth [to visit] -> visiting",
            "worth [to read] -> reading",
            "worth [to try] -> trying",
            "don't|you mind [to <base-to-ing>] -> $2",
            "don't|you mind [to <start-to-ing>] -> $2",
        ),
        ("It is worth {to visit|visiting}.", "I don't mind {to wear|wearing} it."),
        ("It is worth visiting.", "He made up his mind to go.", "What it is worth to him is clear."),
    ),
    Rule(
        "there have many",
        ("there [have] many|several !been -> are", "there [has] a|an|no !been -> is"),
        ("There {have|are} many people.", "There {has|is} a house near it."),
        ("There have been many people.", "The people there have no car.", "There is a house."),
        unless="who|people|in|out|over|it",
    ),
    Rule(
        "I very like",
        (
            "i [very] like|love|enjoy|want|hope|need -> really",
            "too [much] expensive|difficult|tired|busy|dangerous|old|young|late <end>|for|to|and -> ",
            "there is|are [no] enough -> not",
            "is|are|am|was|were|will|does|do|did|i'm|it's|we're|they're|can|be [not longer] !than|and|or|but|nor|in|enough|then|because|since|as|for|when|if|by|at|on|so|now|either|overall|<end> -> no longer",
            "i|we|they|you [have no] enough -> don't have",
            "is|are|was|not|am|be [enough big|old|strong|tall|rich|brave] to|for|<end> -> $2 enough",
        ),
        (
            "I {very|really} like it.",
            "It is too{ much|} expensive for me.",
            "There is {no|not} enough time.",
            "The app is {not longer|no longer} supported.",
            "He is not {enough old|old enough} to go.",
        ),
        (
            "I like it very much.",
            "It is not longer than that.",
            "It is too much hard work.",
            "There is enough old wood.",
        ),
    ),
)

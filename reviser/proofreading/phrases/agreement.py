"""Verbs that do not agree with the pronoun before them, or with what there is."""

from __future__ import annotations

from typing import Final

from reviser.proofreading.phrases.rules import Rule

AGREEMENT: Final = (
    Rule(
        "he have",
        (
            "!<asks> he|she [have] -> has",
            "<starts> it [have] -> has",
            "!<asks> he|she [haven't] -> hasn't",
            "<starts> it [haven't] -> hasn't",
        ),
        (
            "He {have|has} a new job.",
            "I know that she {have|has} two cats.",
            "It {have|has} many rooms.",
            "If you ask me, he {have|has} one, and should it rain, she {have|has} another.",
            "She {haven’t|hasn’t} seen it.",
        ),
        (
            "Did he have a car?",
            "What would she have done?",
            "I suggest he have a rest.",
            "Make it have an end.",
            "Anna and he have a house.",
            "Why does she have to go?",
        ),
        unless_in_clause="<demands>",
        quoted=False,
    ),
    Rule(
        "what he have to",
        (
            "what|why|how|where|when|whatever|because|know|knows|think|thinks|said|says he|she [have] to|a|an|the|no|been|done|got|seen|made -> has",
            "^|because|but|although|and|so everyone|everybody|nobody|somebody|someone [<opinion-to-s>] <determiner>|that|what|how|to|about|it|him|her|me|you|us|them|<end> -> $1",
        ),
        (
            "It is important that you know what he {have|has} to do.",
            "Everybody {know|knows} that.",
            "It is late, but everyone {want|wants} to stay.",
        ),
        (
            "What would he have to do?",
            "Let everyone know that it is late.",
            "It is important that everyone know it.",
            "Everyone, like it or not, came.",
        ),
        unless="did|does|would|suggest|recommend",
        quoted=False,
    ),
    Rule(
        "he do",
        ("<starts> he|she [do] -> does", "!<asks>|do|does he|she|it [don't] -> doesn't"),
        ("He {don't|doesn't} know it.", "She {do|does} it well.", "It {don't|doesn't} work."),
        (
            "What did he do?",
            "I insist that he do it.",
            "“He don't know,” said Tom.",
            "Neither he nor she do much.",
            "How does he do it?",
        ),
        unless_in_clause="<demands>",
        quoted=False,
    ),
    Rule(
        "they has",
        (
            "!and|or|of|than we|they [has] -> have",
            "<opens> i|you [has] -> have",
            "!and|or|of|than we|they [hasn't] -> haven't",
            "<opens> i|you [hasn't] -> haven't",
        ),
        (
            "They {has|have} a big garden.",
            "I {has|have} a dog.",
            "It is late, but you {hasn't|haven't} eaten.",
            "This is what we {has|have} now.",
        ),
        ("One of you has it.", "What I gave you has gone.", "Type I has two parts.", "Someone like you has a choice."),
        quoted=False,
    ),
    Rule(
        "they does",
        ("!and|or|of|than we|they [doesn't] -> don't", "<opens> i|you [doesn't] -> don't"),
        ("They {doesn't|don't} like it.", "I {doesn't|don't} know.", "If you {doesn't|don't} mind, I stay."),
        ("One of you doesn't know.", "What hurts you doesn't matter.", "They don't like it."),
        quoted=False,
    ),
    Rule(
        "we was",
        (
            "!and|or|of|than|as we|they [was] -> were",
            "<starts>|if|that|where you [was] -> were",
            "!and|or|of|than|as we|they [wasn't] -> weren't",
            "<starts>|if|that|where you [wasn't] -> weren't",
        ),
        (
            "We {was|were} tired.",
            "I thought they {was|were} here.",
            "When you {was|were} young, it was new.",
            "They {wasn't|weren't} ready.",
        ),
        (
            "“We was robbed,” he said.",
            "One of you was late.",
            "What I told you was true.",
            "All that was left to them was gone.",
        ),
        quoted=False,
    ),
    Rule(
        "he are",
        (
            "!and|or|nor|than|like|as he|she [are] -> is",
            "<starts> it [are] -> is",
            "!and|or|nor|than|like|as he|she [aren't] -> isn't",
        ),
        ("He {are|is} my brother.", "I know that she {are|is} ill.", "It {are|is} a long way."),
        (
            "Anna and she are sisters.",
            "Parts of it are lost.",
            "Neither he nor she are there.",
            "Those who like it are few.",
        ),
        quoted=False,
    ),
    Rule(
        "they is",
        ("<opens> we|they|you [is] !a|an|the|used|not -> are", "<opens> we|they|you [isn't] -> aren't"),
        ("They {is|are} happy.", "I came because they {is|are} here.", "If you {is|are} late, call me."),
        ("Singular they is old.", "What I told you is true.", "The word for them is they.", "One of you is right."),
        quoted=False,
    ),
    Rule(
        "he go",
        (
            "^|because|but he|she [<subject-base-to-s>] -> $1",
            "^|because|when|but it [<it-base-to-s>] -> $1",
            "^|because|but|think|thinks|know|knows|say|says he|she just|really|always|never|often|also|only [<subject-base-to-s>] -> $1",
        ),
        (
            "He {go|goes} to school.",
            "She stays because she {like|likes} him.",
            "It {take|takes} two hours.",
            "When it {come|comes} to food, I know it.",
            "I think she just {like|likes} it.",
        ),
        (
            "Did he go to school?",
            "I suggest he go there.",
            "Make it work.",
            "He may go, and he may stay.",
            "Will she like it?",
            "She open her eyes and saw it.",
        ),
        unless_in_clause="<demands>",
        unless_with="<past>",
        quoted=False,
    ),
    Rule(
        "they goes",
        ("<starts>|, we|they|i|you [<verb-s-to-base>] -> $1", "he|she and i [<verb-s-to-base>] -> $1"),
        ("They {goes|go} there every year.", "I {likes|like} it.", "She and I {works|work} here."),
        ("What interests you works for us.", "Type I needs two parts.", "She goes with them."),
        quoted=False,
    ),
    Rule(
        "me and him",
        ("^|because|but [me and <subject-of-him>] <base>|<s-to-base>|<past-to-base>|are|is|was|were -> $3 and I",),
        ("{Me and him|He and I} went to the shop.", "It was late because {me and her|she and I} were talking."),
        (
            "They saw me and him.",
            "Between me and him was a wall.",
            "Give it to me and her.",
            "“Me and him went there,” she said.",
        ),
        quoted=False,
    ),
    Rule(
        "me and my wife",
        (
            "^|because|but|that|when|yesterday|today|week|month|year|weekend|night|<weekday>|, [me and my <close>] <past-to-base>|visited|stayed|decided|wanted|moved|travelled|traveled|are|is|was|were|has|have|had|will|would|can|could -> my $4 and I",
        ),
        ("{Me and my wife|My wife and I} were late.", "Yesterday {me and my brother|my brother and I} went there."),
        ("They invited me and my wife.", "It was, to me and my wife, a joy.", "My wife and I were late."),
        quoted=False,
    ),
    Rule(
        "each of them have",
        (
            "^|,|and|but|because each|one of them|us|these|those [<are-to-is>] -> $1",
            "^|,|and|but|because each of the|my|your|our|these|those <counted-plural> [<are-to-is>] -> $1",
        ),
        (
            "There are four files, and each of them {have|has} a name.",
            "One of them {are|is} broken.",
            "Each of the students {have|has} a book.",
        ),
        ("The lines between each of them are long.", "Each of them has a name.", "Some of them are broken."),
    ),
    Rule(
        "everyone are",
        (
            "if|when|whenever|because somebody|someone|anybody|anyone|everybody|everyone|nobody [<someone-to-s>] -> $1",
            "<starts>|that|, everyone|everybody|someone|somebody|nobody|everything|anybody|anyone [are] -> is",
        ),
        (
            "Everyone {are|is} here.",
            "If somebody {notice|notices} it, call me.",
            "I think that everybody {are|is} happy.",
        ),
        (
            "Those who know everyone are rare.",
            "If someone like you comes, I stay.",
            "Are you everyone?",
            "If everyone were here, we could start.",
        ),
    ),
    Rule(
        "people is",
        ("!of|for|with|to|by|in|about|from|among|on|what many|most|some|these|those people [<is-to-was>] -> $1",),
        ("Most people {is|are} kind.", "I think these people {has|have} a problem."),
        (
            "The number of young people is growing.",
            "A people is more than a crowd.",
            "What I say to some people is this.",
            "People has a new cover.",
        ),
    ),
    Rule(
        "there is many",
        (
            "there [is] many|several !a|an -> are",
            "there [was] many|several !a|an -> were",
            "there [is] <number>|# <counted-plural> -> are",
            "there [was] <number>|# <counted-plural> -> were",
            "there [<is-to-was>] a lot|lots of <counted-plural> -> $1",
            "there [<is-to-was>] lots of <counted-plural> -> $1",
            "there [<is-to-was>] some|so|too many? people|things|problems|children|students -> $1",
        ),
        (
            "There {was|were} a lot of people in the room.",
            "There {is|are} lots of books.",
            "There {is|are} so many people.",
            "There {is|are} many problems.",
            "I know there {was|were} several books.",
            "There {is|are} two reasons for it.",
        ),
        (
            "There is many a slip.",
            "There was two minutes left.",
            "There is one way.",
            "There is a lot to do.",
            "There is a lot of work.",
            "Is there a lot of people?",
        ),
    ),
    Rule(
        "this are my books",
        ("^ [this] are -> these", "^ [that] are my|your|his|her|our|their|the|some -> those"),
        ("{This|These} are my books.", "{That|Those} are the keys."),
        ("People like this are rare.", "Is this, are these, yours?", "This is mine.", "That is the one."),
        quoted=False,
    ),
    Rule(
        "the results is",
        (
            "^ the|these|those|my|our|your|his|her|their <plural-subject> [<is-to-was>] !not -> $1",
            "^ the|these|those|my|our|your|his|her|their <plural-subject> [<clear-s-to-base>] -> $1",
            "^ all the|these|those|my|our|your|his|her|their <plural-subject> [<clear-s-to-base>] -> $1",
            "^ all the|these|those|my|our|your|his|her|their <plural-subject> [<is-to-was>] !not -> $1",
            "^|,|and|but|because the|my|our|your <single-subject> [have] to|a|an|the|no|been|many|some|already -> has",
        ),
        (
            "The results {is|are} shown below.",
            "My parents {was|were} late.",
            "All the tests {passes|pass} here.",
            "The experiments {shows|show} that it works.",
            "The user {have|has} to log in.",
        ),
        (
            "One of the results is wrong.",
            "Does the user have to log in?",
            "The result is here.",
            "Let the user have a choice.",
            "What the users see is this.",
        ),
        unless="<asks>",
        quoted=False,
    ),
    Rule(
        "the server don't",
        ("^|but|because|when|if|that the|my|our|your|this <single-subject> [<aren't-to-isn't>] -> $1",),
        ("The server {don't|doesn't} respond.", "It is late because my computer {haven’t|hasn’t} started."),
        (
            "Both the phone and the computer don't work.",
            "Why don't the user and the server agree?",
            "If the user weren't here, we could go.",
            "The servers don't respond.",
        ),
        unless="<asks>|both|neither",
        quoted=False,
    ),
    Rule(
        "the numbers in the table is",
        (
            "^ the|these|those|my|our|your|his|her|their <plural-subject> in|of|on|for|from the|this|that|my|our|your|his|her <object> [<is-to-was>] !not -> $1",
            "^ the|these|those|my|our|your|his|her|their <plural-subject> in|of|on|for|from the|this|that|my|our|your|his|her <object> [<isn't-to-aren't>] -> $1",
        ),
        ("The numbers in the table {is|are} wrong.", "The results of the test {doesn't|don't} match."),
        (
            "One of the results of the test is wrong.",
            "The result of the tests is here.",
            "The results of the test are here.",
            "The users of the new system is odd.",
        ),
        unless="<asks>",
        quoted=False,
    ),
    Rule(
        "the price of the tickets have",
        (
            "^|,|but|because the|its|their|our|your price|cost|size|length|name|quality|color|colour|weight|speed|value|height|title|purpose|aim|owner of the|these|those|my|our|your|all <counted-plural>|<plural-subject> [<are-to-is>] !not -> $1",
        ),
        ("The price of the tickets {have|has} increased.", "It is slow, because the size of the files {are|is} large."),
        (
            "The price and the size of the files are known.",
            "The prices of the tickets have increased.",
            "If the price of the tickets were lower, I would go.",
        ),
        unless="if|wish|though|and|or|did|do|does",
        quoted=False,
    ),
    Rule(
        "the feature allow",
        (
            "^|because|but the|this|my|our|your new|first|second|last|old? <single-subject>|tool|library|service|app|application|file|update|version|script|page [<allow-to-s>] to|us|me|you|the|a|an|it|them|people|users|some|all|two -> $1",
            "^|,|because|and|that the|this shop|store|bank|museum|office|library|restaurant|school|train|course|meeting|lesson|film|movie [<close-to-s>] at #|<number>|noon|midnight -> $1",
            "^|,|because|but the|this|my|our|your program|app|application|game|browser|page|website|script|tool [<fail-to-s>] when|if|every|always|sometimes -> $1",
        ),
        (
            "The new feature {allow|allows} you to export it.",
            "This program {contain|contains} a mistake.",
            "The shop {close|closes} at eight.",
            "The program {crash|crashes} when I open a file.",
        ),
        (
            "Does the feature allow it?",
            "I suggest that the tool allow it.",
            "The features allow you to go.",
            "The program crash was a surprise.",
        ),
        unless="<asks>|<demands>",
        quoted=False,
        confidence=0.9,
    ),
    Rule(
        "Section 2 discuss",
        (
            "!and|or|to|in|see|both|from @|section|chapter|table|figure # [<tell-to-s>] <determiner>|how|why|what|that|some|related|several|all|two|three|results|more -> $1",
            ", and @|section|chapter|table|figure # [<tell-to-s>] <determiner>|how|why|what|that|some|related|several|all|two|three|results|more -> $1",
        ),
        (
            "Later, Section 2 {discuss|discusses} the data.",
            "The rest is simple, and Chapter 3 {describe|describes} how it works.",
        ),
        (
            "Sections 2 and 3 describe the data.",
            "In Section 2 describe the data.",
            "Section 2 describes the data.",
            "Both Type 2 describe it.",
        ),
        unless="if|can|could|should|will|would|must|may|let|does|did|do|to",
    ),
    Rule(
        "the news are",
        (
            "^ the|this|that|these good|bad|latest|last|new? news [<are-to-is>] -> $1",
            "^ news [are] good|bad|very|not|always -> is",
        ),
        ("The news {are|is} very bad.", "The latest news {were|was} good."),
        ("Those who read the news are few.", "The news channels are new.", "The news is bad."),
    ),
    Rule(
        "the people is happy",
        (
            "^ the? people [<is-to-was>] very|so|too|happy|angry|poor|rich|tired|afraid|scared|going|coming|here|there -> are",
        ),
        ("The people {is|are} angry about it.", "People {is|are} so tired of it."),
        ("The people is the source of power.", "People is a magazine.", "The number of people is so high."),
    ),
)

"""Set phrases, and verbs and adjectives with a preposition that they do not take, or without one that they take."""

from __future__ import annotations

from typing import Final

from reviser.proofreading.phrases.rules import Rule

PATTERNS: Final = (
    Rule(
        "am agree",
        (
            "[i am|i'm] agree -> I",
            "we|they|you [are] agree -> ",
            "[we're] agree -> we",
            "[they're] agree -> they",
            "i [am] not agree -> do",
            "[i'm] not agree -> I do",
            "[we're] not agree -> we do",
            "[they're] not agree -> they do",
            "we|they [are] not agree -> do",
            "he|she [is agree] -> agrees",
        ),
        (
            "{I am|I} agree with you.",
            "They{ are|} agree on it.",
            "I {am|do} not agree.",
            "{I'm|I do} not agree with this.",
        ),
        ("I agree with you.", "All that we are agree with it not.", "We are agreed."),
        unless="who|what|all",
    ),
    Rule(
        "discuss about",
        (
            "discuss|discussed|discusses|discussing [about] <determiner>|it|them|how|what|why|whether|which -> ",
            "mention|mentioned|mentions [about] <determiner>|it|them|how|what -> ",
        ),
        ("We discussed{ about|} the problem.", "Let us discuss{ about|} it."),
        ("We talked about the problem.", "They discussed about twenty plans.", "A mention about it was made."),
        unless="a|no|any",
    ),
    Rule(
        "said me",
        ("[<tell-of-say>] me|us|him|them|her that|to|about|what|how|why -> $1",),
        ("He {said|told} me that it was late.", "She {says|tells} us what to do."),
        ("He said to me that it was late.", "He told me that.", "She said her mother knew."),
    ),
    Rule(
        "explain me",
        (
            "explain|explained|explains|explaining|describe|described [me|us|him|them|her] how|what|why|the|that|this|it|your|where|when -> to $1",
        ),
        ("Can you explain {me|to me} how it works?", "He explained {us|to us} the rules."),
        ("That does not explain me.", "He explained to me how it works.", "It explains them."),
    ),
    Rule(
        "tell to me",
        (
            "tell|tells|telling [to] me|him|us|them -> ",
            "!be|was|were|been i|he|she|we|they|you asked|ask|asks [to] me|him|us|them <end>|if|why|what|how|where|about -> ",
        ),
        ("Tell{ to|} me what you saw.", "She asked{ to|} me why I came."),
        ("The story was told to me.", "Tell me to go.", "He asked to see them."),
    ),
    Rule(
        "find attach",
        ("find [attach|attache] -> attached", "find [enclose] -> enclosed"),
        ("Please find {attach|attached} the report.", "Please find {enclose|enclosed} a copy."),
        ("Please find attached the report.", "Find and attach it.", "They attach it."),
    ),
    Rule(
        "married with",
        (
            "married|marry [with] him|me|you|someone|somebody !and|in|on|at -> to",
            "married [with] a|an man|woman|girl|guy|doctor|american -> to",
            "married [with] my|his|her|their boyfriend|girlfriend|husband|wife|brother|sister|friend|cousin -> to",
        ),
        ("She is married {with|to} a doctor.", "I want to get married {with|to} him."),
        ("He is married with two children.", "They are married with a son.", "She married with joy."),
    ),
    Rule(
        "since two years",
        (
            "[since] <number>|#|many|several|some <unit> !ago|earlier|before|prior|of|later -> for",
            "[since] a few <unit> !ago|earlier|before|prior|of -> for",
            "[since] a long time !ago|before -> for",
            "[since] half an|a hour|year|day -> for",
        ),
        ("I live here {since|for} two years.", "He waited {since|for} a long time."),
        ("It began since two years ago.", "Since many people came, we left.", "I live here since May."),
    ),
    Rule(
        "depend of",
        (
            "depend|depends|depended|depending [of|from|at] -> on",
            "consist|consists|consisted|consisting [from|on|by] -> of",
        ),
        ("It depends {of|on} you.", "It consists {from|of} two parts."),
        ("It depends on you.", "A dependent of his came.", "It consists of two parts."),
    ),
    Rule(
        "listen music",
        (
            "to|can|often|always|i|we|they|you|and listen [music|songs|podcasts] -> to $1",
            "listening|listened [music|songs|podcasts|me|him|us|them] -> to $1",
            "listen|listening|listened [the] music|radio|song|songs|teacher|news -> to the",
        ),
        ("I often listen {music|to music}.", "She was listening {the|to the} radio."),
        ("Listen, music is playing.", "They listened the whole time.", "I listen to music."),
    ),
    Rule(
        "in the other hand",
        ("^|but|and|, [in|at|by] the other hand , -> on", "^ [from|for] the other hand , -> on"),
        ("{In|On} the other hand, it is late.", "But {in|on} the other hand, we are here."),
        (
            "A cup was in the other hand.",
            "With a stick in one hand and a bag in the other hand, he left.",
            "On the other hand, it is late.",
        ),
    ),
    Rule(
        "according with",
        ("^ according [with|of|at] the|my|this|a|our|his|her -> to",),
        ("According {with|to} the law, it is right.", "According {of|to} my teacher, it is late."),
        ("It is a plan according with the law.", "According to the law, it is right.", "According as he comes, we go."),
    ),
    Rule(
        "interested about",
        ("interested [about|on] <determiner>|it|you|them|learning|working|music !whole|contrary -> in",),
        ("I am interested {about|in} your work.", "She is interested {on|in} it."),
        ("I am interested in it.", "They are interested on Mondays.", "How interested, about the house, is he?"),
    ),
    Rule(
        "good in playing",
        (
            "i|he|she|we|they|you am|is|are|was|were very|so|really|not? good [in] playing|speaking|dancing|singing|drawing|swimming|mathematics|math|maths|physics|chemistry|languages|sports -> at",
        ),
        ("I am good {in|at} playing chess.", "She is very good {in|at} singing."),
        ("It is good in soup.", "She is good at singing.", "There is good in singing."),
    ),
    Rule(
        "despite of",
        ("!in despite [of] -> ", "resemble|resembles|resembled [to|with] -> "),
        ("Despite{ of|} the rain, we went.", "He resembles{ to|} his father."),
        ("In despite of all, he went.", "In spite of the rain, we went.", "Despite the rain, we went."),
    ),
    Rule(
        "make a photo",
        ("[<take-of-make>] a photo|selfie of|with|<end> -> $1",),
        ("We {made|took} a photo of it.", "Can you {make|take} a photo?"),
        ("We took a photo of it.", "They make a photo album.", "He made a picture of it."),
    ),
    Rule(
        "do a mistake",
        (
            "!what|why|how|when [<make-of-do>] a|another|the same|big|small|terrible|great? mistake -> $1",
            "[<make-of-do>] many|some|too|a|any|lot|few many|lot? of? mistakes -> $1",
        ),
        ("I {did|made} a mistake.", "He {did|made} a big mistake."),
        ("I made a mistake.", "What did a mistake cost?", "They do not make a mistake."),
    ),
    Rule(
        "make homework",
        ("[<do-of-make>] my|your|his|her|their|our homework <end>|and|in|at|every|with|after|before -> $1",),
        ("I {make|do} my homework every day.", "She {made|did} her homework."),
        ("I do my homework.", "It made my homework easier.", "They make the homework hard."),
    ),
    Rule(
        "go to home",
        (
            "arrive|arrived|arrives|arriving [in] home <end>|and|because|at|after|very|late|early -> ",
            "go|went|going|goes|come|came|coming|back|return|returned|arrive|arrived [to|at] home <end>|and|because|at|after|by|when|from|late|early|before -> ",
            "go|went|going|goes|travel|traveled|travelled|travelling|study|live|living|move|moved [to|in] abroad -> ",
            "go|went|going|come|came [to] there <end>|and|because|with|by|again -> ",
        ),
        ("I want to go{ to|} home.", "She lives in Rome and studies or went{ to|} abroad."),
        ("They went to home games.", "I go home.", "He was at home.", "We came to home in on it."),
    ),
    Rule(
        "arrived to the airport",
        (
            "arrive|arrives|arrived|arriving [to] the|our|my|his|her airport|station|hotel|school|office|party|house|beach|restaurant -> at",
        ),
        ("We arrived {to|at} the airport.", "When I arrive {to|at} my house, I rest."),
        ("We arrived to the sound of bells.", "We arrived at the airport.", "He went to the station."),
    ),
    Rule(
        "wait me",
        ("wait|waiting|waited|waits [me|him|us|them] -> for $1", "wait|waiting|waited [the] bus|train -> for the"),
        ("Please wait {me|for me} there.", "I was waiting {the|for the} bus."),
        ("Wait for me.", "They waited the whole day.", "Wait, them too."),
    ),
    Rule(
        "in last week",
        ("^ [in|on|at last|next week|month|year|weekend|night] <end>|i|we|he|she|they|my|the -> $2 $3",),
        ("{In last week|Last week} I saw him.", "{In next year|Next year} we move."),
        ("In last week's paper it stood.", "In the last week of May it rained.", "He moved in last week."),
    ),
    Rule(
        "in Monday",
        (
            "[in|at the # o'clock] <end> -> at $3 $4",
            "[in|on] # o'clock -> at",
            "[in|at] <weekday> <end>|morning|afternoon|evening|night|i|we|and -> on",
            "[on] <month> . -> in",
        ),
        ("We meet {in|on} Monday.", "He came {in|on} Friday evening.", "The train leaves {in the 8|at 8} o'clock."),
        ("We meet on Monday.", "She is in Sunday school.", "It was on June 5.", "In January it snows."),
    ),
    Rule(
        "in nowadays",
        ("[in|on|at the? nowadays] -> nowadays",),
        ("{In nowadays|Nowadays} people travel.", "People travel a lot {in nowadays|nowadays}."),
        ("Nowadays people travel.", "It is in now.", "In these days people travel."),
    ),
    Rule(
        "most of people",
        (
            "!make|making|made|makes|get|getting|got|gets|the [most of] people|students|countries !i|we|who|that|in|with|here|there -> most",
            "!make|making|made|makes|get|getting|got|gets [the most of] people|students|countries -> most",
            "^|but|because [the most of] the|them|us|these|those|my|our -> most of",
        ),
        (
            "{Most of|Most} people like it.",
            "{The most of|Most} people know him.",
            "{The most of|Most of} the people like it.",
        ),
        ("Most of the people like it.", "He makes the most of people.", "Most people like it."),
    ),
    Rule(
        "the same than",
        ("the same [than] -> as",),
        ("It is the same {than|as} before.", "This is not the same {than|as} that."),
        ("It is the same as before.", "It looks the same.", "More of the same, then."),
    ),
    Rule(
        "different of",
        (
            "is|are|was|were|very|so|be|completely|totally different [of] the|my|his|her|other|others|what -> from",
            "afraid [from|by] -> of",
            "not|be|am|is|are|was|were|become|fully|well aware [about] <determiner>|it|what|how -> of",
            "responsible [of] the|my|his|her|our|their|this|it -> for",
        ),
        ("It is different {of|from} the other.", "I am afraid {from|of} dogs."),
        ("It is different from the other.", "He tried something different of his own.", "I am afraid of dogs."),
    ),
    Rule(
        "came for to",
        ("here|there|came|come|went|go|going [for] to <base> -> ",),
        ("I came{ for|} to learn.", "She went there{ for|} to study."),
        ("I came to learn.", "What is it for to you?", "He went for a walk."),
        quoted=False,
    ),
    Rule(
        "difficult for understand",
        (
            "it's|is|was|very|too|so difficult|easy|hard|important|necessary|impossible|possible [for] <sure-base> -> to",
        ),
        ("It is difficult {for|to} understand.", "It was easy {for|to} find."),
        ("It is hard for me.", "It is difficult to understand.", "It is important for women."),
    ),
    Rule(
        "contact with me",
        ("please|can|could|will|to [contact with] me|us|him|them -> contact",),
        ("Please {contact with|contact} me.", "You can {contact with|contact} us."),
        ("Stay in contact with me.", "Please contact me.", "His contact with us ended."),
        unless="due|prior|leads|led|exposed",
    ),
    Rule(
        "the man which",
        (
            "^ this|that|he|she|it is|was the|a <humans> [which] -> who",
            "^ the|a|many|some|most|all <humans> [which] -> who",
            "^ people [which] -> who",
        ),
        ("This is the man {which|who} I saw.", "People {which|who} like it are rare."),
        ("He wrote to a friend which words he liked.", "This is the man who came.", "People, which is odd, like it."),
    ),
    Rule(
        "I want that you come",
        (
            "i|we|they want [that you <base>] -> you to $3",
            "i|we|they want [that they <base>] -> them to $3",
            "i|we|they|you want [that he <s-to-base>] -> him to $3",
            "i|we|they|you want [that she <s-to-base>] -> her to $3",
            "i|we|they|you want [that it <s-to-base>] -> it to $3",
            "he|she wants [that you <base>] -> you to $3",
        ),
        (
            "I want {that you come|you to come} with me.",
            "She wants {that you help|you to help} her.",
            "I want {that he comes|him to come} with us.",
        ),
        ("All I want is that you come.", "I want that book.", "I want you to come."),
        unless="what|all|things|everything",
    ),
    Rule(
        "borrow me your pen",
        (
            "can|could|would|will|please you? [borrow] me|us a|an|the|your|some|#|<number>|this|it|yours|money|one -> lend",
        ),
        ("Can you {borrow|lend} me your pen?", "Please {borrow|lend} us some money."),
        ("Can I borrow your pen?", "They borrow me out.", "Can you lend me a pen?"),
    ),
    Rule(
        "suggest him to go",
        (
            "suggest|suggested|suggests [me to] <suggested> -> that I",
            "suggest|suggested|suggests [him to] <suggested> -> that he",
            "suggest|suggested|suggests [her to] <suggested> -> that she",
            "suggest|suggested|suggests [us to] <suggested> -> that we",
            "suggest|suggested|suggests [them to] <suggested> -> that they",
        ),
        ("I suggested {him to|that he} restart it.", "She suggests {me to|that I} wait."),
        (
            "I suggested him to the others.",
            "I suggested them to beginners.",
            "He suggests her to anyone who asks.",
            "She suggested that I wait.",
            "They suggested it to us.",
        ),
    ),
    Rule(
        "more time that me",
        (
            "more|less|fewer <any> [that] me|him|her|us|them|others <full-end> -> than",
            "<comparative> [that] me|him|her|us|them <full-end> -> than",
        ),
        ("He has more experience {that|than} me.", "She is older {that|than} him."),
        ("He is older than me.", "It is more likely that they left.", "There is more to that."),
        unless="so|such",
    ),
    Rule(
        "appreciate if",
        (
            "would|i'd|we'd|will really|also|highly|greatly? [appreciate] if you|we|they|he|she|it|there|someone|somebody|anyone|i -> appreciate it",
            "would|i'd|we'd very much [appreciate] if you|we|they|he|she|it|there|someone|somebody|anyone|i -> appreciate it",
        ),
        (
            "I would {appreciate|appreciate it} if you could help.",
            "We'd very much {appreciate|appreciate it} if you came.",
        ),
        (
            "I would appreciate it if you came.",
            "It would be appreciated if you came.",
            "You will appreciate, if you look, how old it is.",
        ),
        confidence=0.85,
    ),
    Rule(
        "prefer tea than coffee",
        (
            "!more i|we|they|you|would|people prefer <any> [than] <any> <end> -> to",
            "he|she prefers <any> [than] <any> <end> -> to",
            "prefer|prefers|preferred <ing> [than] <ing> -> to",
        ),
        ("I prefer coffee {than|to} tea.", "They prefer walking {than|to} driving."),
        ("I prefer it more than tea.", "She prefers to walk rather than drive.", "I prefer walking to driving."),
        unless="more|rather",
    ),
    Rule(
        "speak it very good",
        (
            "play|plays|played [very|so|really|pretty good|well the guitar|piano|violin|flute|drums] -> the $4 $1 well",
            "speak|speaks|spoke|speaking @|it very|so|really|pretty|quite|too [good] <end> -> well",
            "i|you|he|she|we|they drive|drives|sing|sings|dance|dances|cook|cooks|swim|swims|draw|draws|danced|sang very|so|really|pretty [good] <end> -> well",
        ),
        (
            "You speak English very {good|well}.",
            "She sings so {good|well}!",
            "He plays {very good the guitar|the guitar very well}.",
        ),
        ("You speak very good English.", "She sings so good a song.", "They cook very good food."),
        quoted=False,
    ),
    Rule(
        "it was released before two weeks",
        (
            "was|were <done> [before <number>|#|several|some|many <span>] <full-end> -> $2 $3 ago",
            "was|were <done> [before a <span>] <full-end> -> a $3 ago",
            "i|we|he|she|they bought|sent|got|received|moved|started|met|ordered|installed|changed|arrived it|him|her|them|you|here|there|this? [before <number>|#|several|some|many <span>] <full-end> -> $2 $3 ago",
        ),
        ("It was released {before two weeks|two weeks ago}.", "I bought it {before 3 days|3 days ago}."),
        (
            "It was released two weeks before.",
            "It must be finished before two weeks have passed.",
            "It was built before the war.",
        ),
        unless="not|wasn't|weren't|never|didn't",
    ),
    Rule(
        "send it until tomorrow",
        (
            "send|submit|deliver|finish|return|complete it|this|them [until] tomorrow|tonight|<weekday>|next -> by",
            "send|submit|deliver|finish|return|complete the|my|your|this|our|his|her <object> [until] tomorrow|tonight|<weekday>|next -> by",
            "send you|me|us|him|her the|my|your|this|our|his|her <object> [until] tomorrow|tonight|<weekday>|next -> by",
            "send it to you|me|us|him|her|them [until] tomorrow|tonight|<weekday>|next -> by",
            "reply|answer|respond|decide me|us|him|her? [until] tomorrow|tonight|<weekday>|next -> by",
        ),
        (
            "I will send you the report {until|by} tomorrow.",
            "Please finish it {until|by} Friday.",
            "We must decide {until|by} next week.",
        ),
        (
            "Do not send it until tomorrow.",
            "I can't finish it until Friday.",
            "I will wait until tomorrow.",
            "Wait to submit it until Monday.",
            "Nobody can decide until Monday.",
        ),
        unless="not|don't|won't|can't|cannot|never|didn't|doesn't|couldn't|wouldn't|shouldn't|isn't|haven't|nothing|nobody|wait|unable|hold|without",
        confidence=0.9,
    ),
    Rule(
        "founded on 1998",
        (
            "founded|born|established|built|published|released|opened|created|died|invented|launched|retired [on] ## <end>|and|in|by|when|but|as -> in",
            "^ [on] ## ,|i|we|he|she|they|it -> in",
        ),
        ("The company was founded {on|in} 1998.", "{On|In} 2010, we moved."),
        (
            "It is based on 2010 data.",
            "It was born on 5 May 1998.",
            "It was founded in 1998.",
            "It was opened on 1998 screens.",
        ),
    ),
    Rule(
        "so a nice day",
        (
            "is|was|it's|that's|had|have|has [so a] <adjective>|lovely|kind <any> -> such a",
            "is|was|it's|that's|had|have|has [so an] <adjective>|old|ugly|easy|interesting|amazing|awful <any> -> such an",
        ),
        ("It was {so a|such a} nice day that we went out.", "It's {so an|such an} interesting book."),
        ("It was such a nice day.", "It was so nice a day.", "He did so a second time."),
    ),
    Rule(
        "nobody doesn't know",
        (
            "nobody [don't|doesn't <base-to-s>] -> $2",
            "no one [don't|doesn't <base-to-s>] -> $2",
            "there isn't|wasn't|aren't|weren't [nobody] -> anybody",
            "there isn't|wasn't [nothing] -> anything",
            "i|we|they|you haven't|don't|didn't|can't [never] -> ever",
            "he|she hasn't|doesn't|didn't|can't [never] -> ever",
            "i|you|we|they don't|didn't|can't have|want|need|see|get|know [no] !one|longer|less|fewer|matter|doubt|as|for|is|was|to|in|on|<end> -> any",
            "he|she doesn't|didn't|can't have|want|need|see|get|know [no] !one|longer|less|fewer|matter|doubt|as|for|is|was|to|in|on|<end> -> any",
        ),
        (
            "Nobody {don't know|knows} the answer.",
            "I don't have {no|any} money.",
            "There isn't {nobody|anybody} here.",
            "I haven't {never|ever} seen it.",
        ),
        ("“I don't have no money,” he said.", "Nobody knows it.", "I don't have one.", "I don't see no as an answer."),
        quoted=False,
        confidence=0.9,
    ),
    Rule(
        "the document what you sent",
        (
            "!in|into|on|with|to|from the|these|those|all <counted-plural>|documents|files|emails|mails|letters|pictures|photos|reports [what] i|you|we|they|he|she sent|asked|wanted|want|need|needed|bought|wrote|found|made|ordered|like|liked|have|had|mentioned -> that",
            "!in|into|on|with|to|from the|a|an|this|that document|file|book|email|mail|letter|picture|photo|song|phone|report|invoice|food [what] i|you|we|they|he|she sent|asked|ask|wanted|want|need|needed|bought|wrote|found|made|ordered|like|liked|saw|have|had|told|mentioned -> that",
            "everything|anything [what] i|you|we|they -> that",
        ),
        (
            "Here is the document {what|that} you asked for.",
            "That is everything {what|that} I know.",
            "The books {what|that} I bought are good.",
        ),
        (
            "Ask the man what you want.",
            "It makes the book what it is.",
            "It makes everything what it is.",
            "We put in the report what I found.",
            "Tell me in the letter what you want.",
            "It is all that I know.",
            "Nothing else matters, what is it?",
        ),
        unless="tell|tells|told|telling|ask|asks|asked|show|shows|showed|explain|explains|teach|know|knows|knew|see|saw|say|says|said|understand|decide|after|above|at|what|discuss|describe",
        confidence=0.9,
    ),
    Rule(
        "enjoy very much the concert",
        (
            "enjoy|enjoyed|like|liked|love|loved|appreciate|appreciated [very much the|your|my|this|our|his|her <object>] <end>|last|yesterday|today|and|because -> $3 $4 very much",
        ),
        (
            "We enjoyed {very much the concert|the concert very much}.",
            "I appreciate {very much your help|your help very much}!",
        ),
        (
            "We enjoyed the concert very much.",
            "I like it very much, the old house.",
            "He loved very much the same things as she did.",
        ),
        confidence=0.9,
    ),
    Rule(
        "protect the nature",
        (
            "protect|protecting|preserve|preserving|destroy|destroys|destroying|damage|damages|harm|love|save|respect [the] nature <full-end> -> ",
            "have|has|having|take|takes|took [a] breakfast at|every|before|after|in -> ",
        ),
        ("We must protect{ the|} nature.", "I have{ a|} breakfast at seven."),
        (
            "It is in the nature of things.",
            "They love the nature reserve.",
            "They protect the nature and the character of the town.",
            "We had a breakfast meeting.",
        ),
        confidence=0.9,
    ),
    Rule(
        "nobody of us",
        (
            "[nobody] of us|you|them|these|those -> none",
            "ask|asked|asking you|him|her|them|me|us [for] a favor|favour -> ",
            "^ [what's] about a|an|the|you|your|this|tomorrow|next -> what",
            "[during] i|we|he|she|they|it was|were|am|are|is|had -> while",
            "ask|know|asked|check|see [that is it] possible|necessary|true|correct|ok|okay|allowed -> if it is",
        ),
        (
            "{Nobody|None} of us knew it.",
            "Can I ask you{ for|} a favour?",
            "{What's|What} about a meeting?",
            "I learned a lot {during|while} I was there.",
        ),
        (
            "Nobody of note came.",
            "Nobody of my acquaintance came.",
            "What's about to happen?",
            "He slept during it.",
            "I asked for a favour.",
        ),
    ),
    Rule(
        "let's meet us",
        ("let's meet [us] at|in|on|tomorrow|next|again|<full-end> -> ",),
        ("Let's meet{ us|} at the station.", "Let's meet{ us|} tomorrow."),
        ("Let's meet at the station.", "They will meet us.", "He met us at the station."),
    ),
    Rule(
        "don't know nothing",
        (
            "don't|doesn't|didn't|can't|couldn't know|have|say|understand|see|want|need|hear|remember|eat|find [nothing] <full-end>|about|to|for|in|at|on|from|yet -> anything",
        ),
        ("I don't know {nothing|anything} about it.", "She didn't say {nothing|anything}."),
        ("I know nothing about it.", "“I don't know nothing,” he said.", "I don't know; nothing is clear."),
        quoted=False,
    ),
)

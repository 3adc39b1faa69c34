"""Verbs in a form that cannot stand where they stand."""

from __future__ import annotations

from typing import Final

from reviser.proofreading.phrases.rules import Rule

VERBS: Final = (
    Rule(
        "should of",
        ("could|should|would|might|must|couldn't|shouldn't|wouldn't not? [of] <done> -> have",),
        (
            "You should {of|have} gone.",
            "It could not {of|have} been worse.",
            "I wouldn't {of|have} known.",
        ),
        (
            "You could of course stay.",
            "He would of necessity go.",
            "What he could of it he took.",
        ),
        quoted=False,
    ),
    Rule(
        "must to go",
        ("i|you|we|they|he|she|it|who must|should|can|could|cannot|can't [to] <base> -> ",),
        (
            "I must{ to|} go home.",
            "You should{ to|} see it.",
            "We can{ to|} learn it.",
        ),
        (
            "We do what we can to help.",
            "Do all you must to win.",
            "He ran as fast as he could to see it.",
            "Can you come to see us?",
            "It costs one euro per can to buy.",
        ),
        unless="<enough-before>",
    ),
    Rule(
        "didn't went",
        (
            "didn't|don't|doesn't never|even|really|ever? [<any-past-to-base>] -> $1",
            "did|do|does not [<any-past-to-base>] -> $1",
            "didn't|doesn't never|even|really|ever? [<regular-past-to-base>] !to -> $1",
            "did|does not [<regular-past-to-base>] !to -> $1",
            "^|why|where|when|how did i|you|he|she|it|we|they [<any-past-to-base>] -> $1",
        ),
        (
            "I didn't {went|go} there.",
            "She did not {came|come} home.",
            "He didn’t {liked|like} it.",
            "Where did you {bought|buy} it?",
            "We did not {controlled|control} it.",
        ),
        (
            "I did not go.",
            "He didn't used to smoke.",
            "What they did they knew well.",
            "I did it, not thought of it.",
        ),
    ),
    Rule(
        "doesn't works",
        (
            "doesn't|don't|didn't really|even|always? [<verb-s-to-base>] -> $1",
            "does|did not [<verb-s-to-base>] -> $1",
            "doesn't|don't|didn't [has] -> have",
            "does|did not [has] -> have",
        ),
        (
            "It doesn't {works|work}.",
            "She does not {likes|like} him.",
            "He doesn’t {has|have} time.",
        ),
        (
            "It doesn't work.",
            "If it doesn't, works of art are lost.",
            "She does not; he likes it.",
        ),
    ),
    Rule(
        "how does it works",
        ("how|why|where|when|what does he|she|it|this|that [<verb-s-to-base>] -> $1",),
        (
            "How does it {works|work}?",
            "Where does she {lives|live} now?",
        ),
        (
            "How does it work?",
            "What does that mean?",
            "He knows what it does; it works.",
        ),
    ),
    Rule(
        "know how does it work",
        (
            "know|explain|understand|wonder|learn how|why|where|when [does he|she|it <base-to-s>] -> $2 $3",
            "explain|tell|show|ask to? me|us|you|him|them how|why|where [does he|she|it <base-to-s>] -> $2 $3",
            "know|explain|understand|wonder how|why|where|when [do they|we|you|i <base>] -> $2 $3",
            "tell|show|explain to? me|us how|why|where [do they|we|you|i <base>] -> $2 $3",
            "know|tell|ask|asked|wonder|understand me|us|you|him|her? when|where|why|how|what [will|can|should|would|could i|you|he|she|it|we|they] <any> -> $2 $1",
            "know|tell|ask|wonder|understand me|us|him|her when|where|why|how [will|can|should|would the|my|your|our <any>] <any> <full-end> -> $2 $3 $1",
            "asked|ask|asks|told|wondered me|him|her|us|them|you? where|why|when|how|what [did i|you|he|she|it|we|they <base-to-past>] -> $2 $3",
            "know|knew|remember|understand|explain where|why|when|how|what [did i|you|he|she|it|we|they <base-to-past>] -> $2 $3",
        ),
        (
            "I don't know how {does it work|it works}.",
            "Tell me where {do they live|they live}.",
            "I want to understand why {does she go|she goes}.",
            "He asked me where {did I live|I lived}.",
            "I don't know how {can I|I can} help you.",
            "Could you tell me when {will the package|the package will} arrive?",
        ),
        (
            "I know how it works.",
            "Tell me: how does it work?",
            "How do you know where they live?",
            "Do you know what can be done?",
            "Tell me, when will it start?",
            "You know how much it does.",
        ),
    ),
    Rule(
        "can goes",
        (
            "he|she|it|we|they|you can|could|should|must|would|will|might|can't|couldn't|won't|shouldn't|wouldn't not? [<acts-to-base>] -> $1",
            "he|she|it|we|they|you can|could|should|must|would|will|might not? [has] -> have",
        ),
        (
            "He can {speaks|speak} French.",
            "It will {takes|take} a day.",
            "They should {has|have} more time.",
        ),
        (
            "Doing what you can makes a difference.",
            "All you could needs to be done.",
            "He can speak.",
            "They would needs have it.",
        ),
        unless="<enough-before>",
    ),
    Rule(
        "will went",
        (
            "i|he|she|it|we|they|you can|could|should|must|would|will|might|can't|couldn't|won't|shouldn't|wouldn't not? [<past-to-base>] -> $1",
            "i|he|she|it|we|they|you can|could|should|must|would|will|might not? [<regular-past-to-base>] -> $1",
        ),
        (
            "I will {went|go} there.",
            "She could not {came|come}.",
            "We can {played|play} outside.",
        ),
        (
            "Will went home.",
            "What he could took all day.",
            "The will gave her the house.",
            "She would have gone.",
        ),
        unless="<enough-before>",
    ),
    Rule(
        "could not found",
        (
            "can't|cannot|couldn't|won't|didn't [found] -> find",
            "i|he|she|it|we|they|you can|could|will|would|did not [found] -> find",
            "i|he|she|it|we|they|you can|could|will [found] it|them|him|her|me|us|you|anything|something|out|my|your -> find",
        ),
        (
            "I could not {found|find} the source of it.",
            "We couldn’t {found|find} him.",
            "You can {found|find} it here.",
        ),
        (
            "It could not be found.",
            "They could found a company.",
            "You can find it here.",
        ),
    ),
    Rule(
        "want to went",
        (
            "<wanting> to [<past-to-base>] -> $1",
            "<wanting> to [<regular-past-to-base>] -> $1",
            "<wanting> to [<verb-s-to-base>] -> $1",
            "<wanting> to [has] -> have",
        ),
        (
            "I want to {went|go} home.",
            "She decided to {stayed|stay}.",
            "He needs to {goes|go}.",
            "I would like to {wrote|write} it.",
        ),
        (
            "The school he went to became famous.",
            "I want to go.",
            "The man I spoke to took it.",
        ),
    ),
    Rule(
        "like to thanks",
        ("like|want|wanted to [thanks] -> thank", "^ [thanks] you -> thank"),
        ("I would like to {thanks|thank} you.", "{Thanks|Thank} you for the letter."),
        (
            "I owe it to thanks alone.",
            "He thanks you.",
            "Many thanks to all.",
            "Thanks, you are kind.",
        ),
    ),
    Rule(
        "have went",
        (
            "could|would|should|will|might|must have [<past-to-participle>] -> $1",
            "have|has|had never|already|just|always|not|ever|also [<past-to-participle>] -> $1",
            "i've|we've|they've|you've|hasn't|haven't|hadn't never|already|just? [<past-to-participle>] -> $1",
            "have|has|i've|we've|they've|you've never|already|ever [<spoke-to-spoken>] -> $1",
            "^ i|he|she|we|they|you have|has|had [<past-to-participle>] -> $1",
            "been|being [<past-to-participle>] -> $1",
            "^|and|but|because i|he|she|we|they|you have|has|had also|just|already|never|not? [<spoke-to-spoken>] with|to|about|into|down|the|a|my|your|it|him|her|them|that|<end> -> $1",
            "i've|we've|they've|you've also|just|already|never|not? [<spoke-to-spoken>] with|to|about|into|down|the|a|my|your|it|him|her|them|that|<end> -> $1",
        ),
        (
            "I should have {went|gone} earlier.",
            "I have also {spoke|spoken} with Anna.",
            "I have never {saw|seen} such a thing.",
            "He has {broke|broken} my window.",
            "We've {took|taken} the bus.",
            "She has never {wrote|written} to me.",
            "He had {came|come} home.",
        ),
        (
            "The impact it had became clear.",
            "The money they had went to him.",
            "I have gone there.",
            "All that we have came from you.",
        ),
        quoted=False,
    ),
    Rule(
        "I seen it",
        (
            "!have|has|had|haven't|hasn't|hadn't|ever|never i|we|they|he|she [seen] the|a|an|it|him|her|them|this|that|you|in|on|yesterday|last -> saw",
            "^ i|we|they [seen] <any> -> saw",
            "!have|has|had|haven't|hasn't|hadn't|ever|never i|we|they|he|she [done] it|this|that|the|my|everything|yesterday -> did",
        ),
        (
            "I {seen|saw} it yesterday.",
            "We {seen|saw} lions at the zoo.",
            "He told me that they {done|did} it.",
        ),
        (
            "Have I seen it?",
            "Never have we seen the like.",
            "All he has seen in it is bad.",
            "“I seen it,” he said.",
        ),
        quoted=False,
        confidence=0.9,
    ),
    Rule(
        "should have go",
        (
            "could|should|would|might|must have [go] -> gone",
            "could|should|would|might|must have [be] -> been",
            "could|should|would|might|must have [know] -> known",
            "could|should|would|might|must have [eat] -> eaten",
            "could|should|would|might|must have [choose] -> chosen",
            "could|should|would|might|must have [speak] -> spoken",
        ),
        ("You should have {go|gone} there.", "It could have {be|been} worse."),
        ("You should have gone.", "He must have a go at it.", "They must have write access."),
    ),
    Rule(
        "if I would have known",
        (
            "^ if i|he|she|we|you|they|it [would have <done>] -> had $3",
            "^ if i|he|she|we|they [would have] time|money|more|a|an|enough|to|another|children -> had",
            "^ if i|he|she|we|they [would know] the|it|that|this|him|her|my|your|a|more|better|english|enough -> knew",
            "^ if i [would be] you -> were",
            "^ if i|he|she|we|they [would be] a|an|rich|older|younger|there|at|in|president|able|sick|ill|famous -> were",
        ),
        (
            "If I {would have|had} time, I would help.",
            "If I {would know|knew} the answer, I would tell you.",
            "If we {would be|were} rich, we would travel.",
            "If I {would have known|had known}, I would have stayed.",
            "If they {would have told|had told} us, we could help.",
        ),
        (
            "I wonder if I would have known.",
            "If I had known, I would have come.",
            "If he would have us stay, we stay.",
            "If she would be so kind, I would be glad.",
            "If we would know whether it is good, we must ask.",
            "If you would have your work done, pay for it.",
        ),
        confidence=0.85,
        quoted=False,
    ),
    Rule(
        "if I will have time",
        (
            "^ if i|we [will have|get|find|see|need|arrive|finish|meet|forget|lose|win|miss] !to -> $2",
            "^ if i [will be] late|there|here|in|at|back|able -> am",
            "^ if we [will be] late|there|here|in|at|back|able -> are",
        ),
        (
            "If I {will have|have} time, I will call you.",
            "If we {will be|are} late, start without us.",
        ),
        (
            "I wonder if I will have time.",
            "If you will have it, take it.",
            "If I have time, I will call.",
            "If we will have to go, so be it.",
        ),
        confidence=0.85,
        quoted=False,
    ),
    Rule(
        "look forward to hear",
        (
            "look|looking|looks|looked forward to [<base-to-ing>] -> $1",
            "look|looking|looks|looked forward to [work] with -> working",
            "look|looking|looks|looked forward to [visit] you|your|the -> visiting",
            "look|looking|looks|looked forward [hearing|seeing|meeting|receiving|working] -> to $1",
        ),
        (
            "I look forward to {hear|hearing} from you.",
            "We are looking forward to {meet|meeting} you.",
            "I look forward {seeing|to seeing} you.",
        ),
        (
            "I look forward to work.",
            "We look forward to it.",
            "They looked forward and saw it.",
            "I look forward to your visit.",
        ),
    ),
    Rule(
        "without go",
        (
            "without [<clear-base-to-ing>] -> $1",
            "instead|tired|afraid|capable of [<clear-base-to-ing>] -> $1",
            "interested in [<clear-base-to-ing>] -> $1",
            "good|bad at [<clear-base-to-ing>] -> $1",
        ),
        (
            "He left without {hear|hearing} it.",
            "I am interested in {learn|learning} it.",
            "She is good at {explain|explaining} things.",
        ),
        (
            "They came without pay.",
            "It is better to show instead of tell.",
            "I am interested in buying it.",
            "He is good at his work.",
            "Instead, go home.",
        ),
    ),
    Rule(
        "enjoy to go",
        (
            "enjoy|enjoyed|enjoys|avoid|avoided|avoids [to <base-to-ing>] -> $2",
            "enjoy|enjoyed|enjoys [to <enjoyed>] -> $2",
            "i|we|they|he|she|you|just finished [to <base-to-ing>] -> $2",
            "i|we|they|he|she|you|just finished [to <enjoyed>] -> $2",
            "capable|incapable [to <base-to-ing>] -> of $2",
            "succeed|succeeded|succeeds [to <base-to-ing>] -> in $2",
        ),
        (
            "I enjoy {to write|writing}.",
            "She enjoys {to swim|swimming} in the sea.",
            "She is capable {to do|of doing} it.",
            "They succeeded {to find|in finding} it.",
        ),
        (
            "He succeeded to the throne.",
            "I like to write.",
            "There is much to enjoy to the full.",
        ),
    ),
    Rule(
        "suppose to",
        (
            "am|is|are|was|were|be|i'm|he's|she's|it's|you're|we're|they're|not [suppose] to -> supposed",
            "get|got|getting [use] to the|it|this|that|my|his|her|our|their -> used",
        ),
        (
            "He is {suppose|supposed} to come.",
            "You will get {use|used} to it.",
            "We're {suppose|supposed} to go.",
        ),
        (
            "I suppose to some it is odd.",
            "They are supposed to come.",
            "We use to the full what we have.",
        ),
    ),
    Rule(
        "used to get up",
        (
            "i am|was not? used to [<clear-base-to-ing>] -> $1",
            "i'm not? used to [<clear-base-to-ing>] -> $1",
            "i am|was not? used to [get] up -> getting",
            "i'm not? used to [get] up -> getting",
            "get|got|getting|gets used to [<clear-base-to-ing>] -> $1",
            "he|she is|was not? used to [<clear-base-to-ing>] -> $1",
            "we are|were not? used to [<clear-base-to-ing>] -> $1",
            "i am|was not? used to [<enjoyed>] at|in|on|with|for|as|alone|hard|late|early|a|the|my|under -> $1",
            "i'm not? used to [<enjoyed>] at|in|on|with|for|as|alone|hard|late|early|a|the|my|under -> $1",
        ),
        (
            "I am used to {get|getting} up early.",
            "I'm not used to {speak|speaking} English.",
            "You get used to {eat|eating} late.",
            "I am used to {work|working} at night.",
        ),
        (
            "I used to get up early.",
            "It is used to write letters.",
            "You get used to work.",
            "All that I am used to is gone.",
        ),
    ),
    Rule(
        "let me to go",
        (
            "let|lets|letting me|him|her|us|them|you [to] <base> -> ",
            "make|makes|made me|us [to] feel|think|laugh|cry|understand|realize|realise|want|believe -> ",
            "suggest|suggested you|we|he|she|they [to] <base> -> ",
        ),
        (
            "Let me{ to|} go.",
            "It makes me{ to|} feel good.",
            "I suggest you{ to|} stay.",
        ),
        (
            "Let me go to work.",
            "She made them to sell them.",
            "He let us in to see it.",
        ),
    ),
    Rule(
        "will be not able",
        (
            "will|would|may|might|should [be not] able|available|possible|there|here -> not be",
            "have|has|had|i've|we've|they've|you've [been knowing] him|her|it|you|them|each|this|that|the|my|of|about|for|since -> known",
            "i|we|they|you wish i|you|he|she|we|they|it [can] -> could",
        ),
        (
            "I will {be not|not be} able to come.",
            "I have {been knowing|known} him for ten years.",
            "I wish I {can|could} speak Spanish.",
        ),
        (
            "I will not be able to come.",
            "To be not able to see is hard.",
            "As you wish, I can go.",
            "He has been knowing and kind.",
        ),
    ),
    Rule(
        "before to go",
        (
            "!day|days|night|week|weeks|evening|morning|year|years|month|months|minutes|hour|hours|never|ever|as|long|shortly|just|ones|court|judge|from|than before|after [to <base-to-ing>] -> $2",
            "!day|days|night|week|weeks|evening|morning|year|years|month|months|minutes|hour|hours|never|ever|as|long|shortly|just|ones|court|judge|from|than before|after [to <start-to-ing>] -> $2",
        ),
        (
            "Call it before {to start|starting} the server.",
            "Wash your hands before {to eat|eating}.",
        ),
        (
            "He came the day before to see it.",
            "It was as before to me.",
            "They looked after to-do lists.",
            "Before starting it, wait.",
        ),
        unless="came|come|went|had|been|was|is|were|are|what|looked|look|looks|looking|appear|appeared|brought|had|has|have",
        confidence=0.85,
    ),
    Rule(
        "suggest to go",
        ("!as i|he|she|we|they suggest|suggested|suggests [to <base-to-ing>] -> $2",),
        (
            "She suggested {to go|going} to the cinema.",
            "I suggest {to take|taking} the bus.",
        ),
        (
            "She suggested going there.",
            "As he suggested to go is fine.",
            "I did what she suggested to make it work.",
            "He suggested to me that I go.",
        ),
        unless="what|as|which|that|who|all|than|way|how|whom",
        confidence=0.85,
    ),
    Rule(
        "have being",
        (
            "has|have|had|i've|we've|they've|you've [being] waiting|working|living|looking -> been",
            "has|have|had|i've|we've|they've|you've [being] <done> -> been",
            "has|have|had [being] to|there|very|so -> been",
            "to|can|could|should|must|will|may|would be [ran] -> run",
        ),
        (
            "It has {being|been} done.",
            "I have {being|been} there.",
            "They've {being|been} told.",
            "The script needs to be {ran|run} as root.",
        ),
        (
            "It has been done.",
            "We have, being tired, left.",
            "All things that have being are good.",
        ),
        unless="things|all|that",
    ),
    Rule(
        "is belong to",
        (
            "it|he|she|that|this|which [is belong|belongs] to -> belongs",
            "it|this|that|which [is depend|depends] on -> depends",
            "[it's depend|depends] on -> it depends",
            "it|this|that|which [is consist|consists|consisted] of -> consists",
            "[was|were happened] -> happened",
            "[is] appeared|happened|occurred|disappeared !to -> has",
            "[are] appeared|happened|occurred|disappeared !to -> have",
            "he|she|they|who [was|were died] -> died",
        ),
        (
            "It {is belong|belongs} to me.",
            "The accident {was happened|happened} here.",
            "An error {is|has} occurred.",
            "It {is consisted|consists} of two parts.",
        ),
        (
            "It belongs to me.",
            "What it is depends on you.",
            "He was dead.",
            "It consists of two parts.",
        ),
        unless="what|who|whatever|how",
    ),
    Rule(
        "I born",
        ("i|he|she [born] in|on -> was born", "we|they [born] in|on -> were born"),
        ("I {born|was born} in Rome.", "They {born|were born} on the same day."),
        ("I was born in Rome.", "He is a born leader.", "The baby she bore in May was ill."),
    ),
    Rule(
        "can able to",
        ("[can|could|will able to] <base> -> $1",),
        ("I {can able to|can} do it.", "They {could able to|could} see it."),
        ("I am able to do it.", "He can, able to or not.", "You will be able to go."),
    ),
    Rule(
        "want go",
        ("<opens> i|we|they|you want|wanted [go|buy|eat|become|learn|know|see|do] -> to $1",),
        ("I want {go|to go} home.", "We stayed because they wanted {see|to see} it."),
        ("I want to go.", "What you want do quickly.", "Those who want go home."),
        unless="what|all|who",
    ),
)

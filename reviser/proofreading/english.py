"""English words by class, and irregular forms."""

from __future__ import annotations

import re


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _groups(text: str) -> tuple[frozenset[str], ...]:
    """Sets of related words, written one/other."""
    return tuple(frozenset(group.split("/")) for group in text.split())


def _pairs(text: str) -> dict[str, str]:
    """Words and their variants in the other spelling, written one/other."""
    return dict(pair.split("/", 1) for pair in text.split())


ARTICLES = _set("a an the")
PREPOSITIONS = _set(
    """about above across after against along among around as at before behind below beneath beside
    besides between beyond by despite down during except for from in inside into like near of off on
    onto out outside over past since than through throughout to toward towards under until up upon
    with within without"""
)
PRONOUNS = _set(
    """i me my mine you your yours he him his she her hers it its we us our ours they them their theirs
    this that these those who whom whose which what all any each every no some both either neither"""
)
MODALS = _set("would could should might must may will wouldn't couldn't shouldn't")
PERMITTING = _set("may can must should shall")
AUXILIARIES = _set(
    """am is are was were be been being have has had having do does did will would shall should can
    could may might must isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't won't
    wouldn't shouldn't can't couldn't cannot"""
)
AGREEING = frozenset(
    _groups(
        """is/are am/is am/are was/were has/have does/do isn't/aren't wasn't/weren't hasn't/haven't
        doesn't/don't this/these that/those"""
    )
)
PLURALS = frozenset(
    _groups(
        """child/children man/men woman/women person/people foot/feet tooth/teeth mouse/mice goose/geese
        life/lives wife/wives knife/knives leaf/leaves half/halves shelf/shelves wolf/wolves
        thief/thieves loaf/loaves self/selves analysis/analyses crisis/crises thesis/theses
        hypothesis/hypotheses basis/bases criterion/criteria phenomenon/phenomena medium/media
        datum/data index/indices matrix/matrices vertex/vertices much/many less/fewer
        himself/themselves myself/ourselves yourself/yourselves"""
    )
)
UNCOUNTABLE = _set(
    """advice baggage clothing documentation equipment evidence feedback furniture hardware help homework
    housework information jewellery jewelry knowledge luggage machinery money music news progress
    research scenery software stuff traffic training transportation vocabulary weather"""
)
# British and American spellings that no ending tells.
VARIANTS = _pairs(
    """adviser/advisor aeroplane/airplane aesthetic/esthetic ageing/aging aluminium/aluminum
    amongst/among anaemia/anemia anaesthetic/anesthetic artefact/artifact backwards/backward
    chequered/checkered cosy/cozy disc/disk dreamt/dreamed encyclopaedia/encyclopedia enrol/enroll
    enrolment/enrollment enquiry/inquiry foetus/fetus forwards/forward fulfil/fulfill
    fulfilment/fulfillment grey/gray greyish/grayish instalment/installment instil/instill
    judgement/judgment acknowledgement/acknowledgment afterwards/afterward jewellery/jewelry
    kerb/curb leant/leaned leapt/leaped learnt/learned manoeuvre/maneuver maths/math mould/mold
    moustache/mustache okay/ok omelette/omelet orientated/oriented paediatric/pediatric plough/plow
    practise/practice licence/license programme/program pyjamas/pajamas sceptic/skeptic
    sceptical/skeptical skilful/skillful smelt/smelled spelt/spelled spilt/spilled spoilt/spoiled
    sulphur/sulfur burnt/burned towards/toward tyre/tire upwards/upward downwards/downward
    whilst/while wilful/willful woollen/woolen yoghurt/yogurt e-mail/email whisky/whiskey
    focussed/focused focussing/focusing benefitted/benefited benefitting/benefiting biassed/biased
    mediaeval/medieval analogue/analog catalogue/catalog dialogue/dialog prologue/prolog
    likeable/likable sizeable/sizable useable/usable cancelled/canceled cancelling/canceling"""
) | {
    "built-in": "builtin",
    "code base": "codebase",
    "data set": "dataset",
    "file name": "filename",
    "run time": "runtime",
    "run-time": "runtime",
    "time stamp": "timestamp",
    "user name": "username",
    "web site": "website",
    "white space": "whitespace",
}
# They look like British spellings and are the only ones.
SPELLED_ONE_WAY = _set(
    """four hour our pour tour sour your flour contour detour velour advertise advise apprise arise
    braise bruise chastise circumcise compromise comprise concise cruise demise despise devise
    disguise enterprise excise exercise expertise franchise guise improvise likewise merchandise
    noise otherwise poise praise precise premise prise promise raise revise rise supervise surmise
    surprise televise treatise wise"""
)
CONFUSED = _groups(
    """their/there/they're its/it's then/than to/too/two your/you're whose/who's were/where/we're
    lose/loose affect/effect accept/except advice/advise quite/quiet weather/whether past/passed
    principal/principle lead/led of/off hear/here right/write know/now no/know which/witch
    break/brake buy/by/bye cite/site/sight council/counsel desert/dessert for/four hole/whole
    hour/our knew/new meet/meat one/won peace/piece plain/plane threw/through wear/where week/weak
    wood/would bear/bare breath/breathe cloth/clothe complement/compliment device/devise
    ensure/insure farther/further lay/lie later/latter moral/morale personal/personnel
    practice/practise precede/proceed raise/rise sit/set stationary/stationery than/that
    thorough/through tough/though though/thought every/ever want/won't i/me he/him she/her we/us
    they/them who/whom lend/borrow teach/learn let's/lets aloud/allowed altar/alter aisle/isle
    bored/board die/dye fair/fare feat/feet flour/flower heal/heel hair/hare him/hymn mail/male
    main/mane pair/pear poor/pour rain/reign road/rode role/roll sail/sale scene/seen sea/see sew/so
    some/sum son/sun stair/stare steal/steel tail/tale waist/waste wait/weight way/weigh bring/take
    form/from between/among do/make say/tell live/leave beside/besides"""
)
# Two words that are often written as one, which is never right.
RUN_TOGETHER = {
    pair.replace("/", ""): pair.replace("/", " ")
    for pair in (
        *("a/bit", "a/little", "a/lot", "all/right", "as/well", "at/least", "each/other", "even/though"),
        *("every/time", "in/case", "in/fact", "in/front", "in/spite", "no/one", "of/course", "one/another"),
        *("such/as", "thank/you", "up/to"),
    )
}
BEFORE_ONE = _set("a an one each every another this that either neither")
BEHIND_ONE = _set("is was has does isn't wasn't hasn't doesn't")
CONJUNCTIONS = _set("and or but nor if so not then when where while because also only that")
BEFORE_INFINITIVES = _set(
    """want wants wanted need needs needed like likes liked love loves try tries tried have has had
    going able hope hopes hoped decide decided plan plans planned learn learned start started begin
    began continue easy difficult hard important possible necessary ready used ought order wish how
    what where allowed supposed happy trying prefer agree agreed seem seems"""
)
BEFORE_NOUNS = _set(
    """a an the this that these those my your his her its our their many several few some any much all
    both other another each every no two three four five six seven eight nine ten hundred of in on for
    with from about between by at into more most such same different new old good bad big small first
    second last next various"""
)
BEFORE_VERBS = _set(
    """i you he she it we they who which everyone everybody someone somebody nobody anyone one always
    often never usually sometimes also really just still don't doesn't didn't can will would should
    could must may might not to there"""
)
AFTER_NOUNS = _set(
    """of is are was were has have had can will would should could may might must that which who and or
    do does did"""
)
AFTER_VERBS = _set(
    """the a an my your his her its our their me you him us them it to this these on at in up out not
    very so too that how what why"""
)
VERBS = _set(
    """accept add admit agree allow appear ask avoid be become begin believe belong bring buy carry
    choose come consider contain continue create decide depend describe develop discuss do eat enjoy
    exist expect explain fall feel find follow forget get give go grow happen have hear help hope
    improve include increase involve keep know learn leave let lie listen live lose love make mean meet
    move need offer owe pay prefer prepare prevent provide put reach read realise realize receive
    remember remain represent require say see seem sell send sing sit solve speak spend stand stay
    sleep study suggest take talk teach tell think throw travel try understand use visit wait walk want
    wear win wish work write"""
)
COMPARISONS = _groups("good/better/best/well/gooder/goodest bad/worse/worst/badly/badder far/farther/further")
DERIVING = _set(
    """ly ily er est ness ful less able ible ous al ally ive ic ical ity ment tion ation ion ance ence
    ant ent y ish en th ism ist ship hood"""
)
# A base and its forms that are not made by -s, -ed and -ing.
_IRREGULAR_VERBS = """
    be/am/is/are/was/were/been/being have/had do/did/done go/went/gone say/said make/made
    get/got/gotten know/knew/known think/thought take/took/taken see/saw/seen come/came give/gave/given
    find/found tell/told become/became show/shown leave/left feel/felt bring/brought begin/began/begun
    keep/kept hold/held write/wrote/written stand/stood hear/heard mean/meant meet/met run/ran pay/paid
    sit/sat speak/spoke/spoken lie/lay/lain lead/led grow/grew/grown lose/lost fall/fell/fallen
    send/sent build/built understand/understood draw/drew/drawn break/broke/broken spend/spent
    rise/rose/risen drive/drove/driven buy/bought wear/wore/worn choose/chose/chosen seek/sought
    throw/threw/thrown catch/caught deal/dealt win/won forget/forgot/forgotten lay/laid sell/sold
    fight/fought bear/bore/born teach/taught eat/ate/eaten sing/sang/sung strike/struck hang/hung
    shake/shook/shaken ride/rode/ridden feed/fed shoot/shot drink/drank/drunk arise/arose/arisen
    fly/flew/flown sleep/slept beat/beaten light/lit bind/bound hide/hid/hidden swing/swung
    blow/blew/blown swim/swam/swum bend/bent wake/woke/woken ring/rang/rung bite/bit/bitten
    freeze/froze/frozen forgive/forgave/forgiven lend/lent steal/stole/stolen tear/tore/torn wind/wound
    shine/shone sink/sank/sunk spring/sprang/sprung stick/stuck swear/swore/sworn sweep/swept weep/wept
    burn/burnt dream/dreamt learn/learnt smell/smelt spell/spelt spoil/spoilt leap/leapt kneel/knelt
    dig/dug can/could will/would shall/should may/might overcome/overcame undergo/underwent/undergone
    withdraw/withdrew/withdrawn"""


def _bases_of_forms() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for verb in _IRREGULAR_VERBS.split():
        base, *forms = verb.split("/")
        for form in forms:
            found[form] = (*found.get(form, ()), base)
    return found


BASES_OF_FORMS = _bases_of_forms()
CONTRACTION = re.compile(r"(?:n['’]t|['’](?:m|re|ve|ll|d))$|^(?:i|it|he|she|that|what|there|let|who)['’]s$")
NOUN_ENDING = re.compile(r"(?:tion|sion|ment|ness|ity|ship|ism|ist|ance|ence|logy|hood|age|our)$")
ADJECTIVE_ENDING = re.compile(r"(?:al|ous|ful|ive|able|ible|ic|less|ish|ary|ent|ant)$")

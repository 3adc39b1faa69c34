"""Tables of English words that rules name, and the forms that are made by rule."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from reviser.proofreading.phrases.rules import Table


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _map(text: str) -> dict[str, str]:
    """Words and what they become, written one/other."""
    return dict(pair.split("/", 1) for pair in text.split())


def s_form(word: str) -> str:
    """The third person of a verb, or the plural of a noun, by rule."""
    if word in ("have", "be"):
        return {"have": "has", "be": "is"}[word]
    if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", word):
        return f"{word}es"
    return f"{word[:-1]}ies" if re.search(r"[^aeiou]y$", word) else f"{word}s"


def _stem(word: str) -> str:
    """A verb with its last letter doubled where a vowel follows: "stop" becomes "stopp"."""
    if word in _DOUBLING:
        return word + word[-1]
    return word


def ing_form(word: str) -> str:
    if word in ("be", "see", "agree"):
        return f"{word}ing"
    if word.endswith("ie"):
        return f"{word[:-2]}ying"
    return f"{_stem(word.removesuffix('e'))}ing"


def ed_form(word: str) -> str:
    if word.endswith("e"):
        return f"{word}d"
    return f"{word[:-1]}ied" if re.search(r"[^aeiou]y$", word) else f"{_stem(word)}ed"


_DOUBLING = _set("stop plan get sit swim run begin forget shop put travel prefer cut win control")
# Base forms that are no nouns and no past forms.
_SURE_VERBS: Final = _set(
    """go be have do become bring choose create decide eat explain forget hear improve learn lose
    prepare provide receive remember send sing sit speak spend teach tell think understand write know
    say see come give take make get find keep meet pay sell buy arrive achieve avoid believe belong
    communicate consider continue describe develop discuss enjoy ensure express follow happen include
    increase invite join obtain participate protect realize realise solve succeed survive wear"""
)
# Their base forms, or what these make with an s, may be nouns too.
_REGULAR_VERBS: Final = _set(
    """work live like love want need help look play talk call ask try use start finish learn watch
    listen arrive stay change move stop believe happen remember enjoy visit receive walk wait cook
    travel study explain decide plan clean answer open close return reach improve create discuss
    agree invite join mention notice offer order prefer prepare realize realise seem suggest worry"""
)
# They may be nouns, and are named with the past form alone: "did not reported".
_MORE_REGULAR: Final = _set(
    """control report test check measure contain allow provide include require support affect influence
    increase decrease reduce show consider receive expect suffer pass fail add remove celebrate miss
    finish complete start manage apply fix correct update install"""
)
_IRREGULAR = """
    go/went/gone come/came/come take/took/taken give/gave/given write/wrote/written eat/ate/eaten
    begin/began/begun become/became/become drink/drank/drunk drive/drove/driven fly/flew/flown
    grow/grew/grown know/knew/known throw/threw/thrown wear/wore/worn choose/chose/chosen
    ride/rode/ridden sing/sang/sung swim/swam/swum steal/stole/stolen see/saw/seen do/did/done
    speak/spoke/spoken forget/forgot/forgotten have/had/had make/made/made buy/bought/bought
    bring/brought/brought say/said/said tell/told/told keep/kept/kept meet/met/met run/ran/run
    sit/sat/sat sell/sold/sold send/sent/sent sleep/slept/slept spend/spent/spent stand/stood/stood
    teach/taught/taught understand/understood/understood win/won/won catch/caught/caught get/got/got
    hear/heard/heard hold/held/held leave/left/left think/thought/thought feel/felt/felt
    lose/lost/lost pay/paid/paid build/built/built fall/fell/fallen break/broke/broken
    find/found/found"""
_FORMS: Final = [verb.split("/") for verb in _IRREGULAR.split()]
# These are base forms, nouns or adjectives too.
_AMBIGUOUS: Final = _set("saw left thought felt lost paid built fell broke found held spoke met")

_PAST: Final = {past: base for base, past, _ in _FORMS if past not in _AMBIGUOUS}
_ANY_PAST: Final = {past: base for base, past, _ in _FORMS if past not in _set("found fell")}
_REGULAR_PAST: Final = {ed_form(base): base for base in _REGULAR_VERBS | _MORE_REGULAR}
_BASES: Final = frozenset(_SURE_VERBS | _REGULAR_VERBS | {base for base, _, _ in _FORMS})
# Forms of verbs whose past and participle differ, and that are nothing else.
_PARTICIPLES: Final = {
    past: done
    for _, past, done in _FORMS
    if past != done and past not in _set("saw fell broke spoke forgot") and past != "came"
} | {"came": "come"}

_SINGULARS: Final = _set(
    """book student teacher friend problem country city thing reason idea language question animal game
    movie film song story computer phone car house company day week month year hour minute place
    mistake example difference advantage disadvantage opportunity skill activity tourist visitor parent
    kid girl boy brother sister member tourist letter picture photo tree flower room word building
    restaurant hotel shop store child person man woman way time egg bottle neighbour neighbor
    university village island river mountain colleague customer employee passenger subject topic player feature bug solution"""
)
_IRREGULAR_PLURALS: Final = _map("child/children person/people man/men woman/women")
_PLURALS: Final = {one: _IRREGULAR_PLURALS.get(one) or s_form(one) for one in _SINGULARS}

_COMPARATIVES: Final = _map(
    """taller/tall bigger/big smaller/small larger/large higher/high faster/fast slower/slow
    stronger/strong weaker/weak easier/easy harder/hard cheaper/cheap richer/rich poorer/poor
    younger/young older/old newer/new better/good worse/bad nicer/nice happier/happy sadder/sad
    healthier/healthy prettier/pretty heavier/heavy busier/busy longer/long wider/wide hotter/hot
    colder/cold warmer/warm louder/loud dirtier/dirty safer/safe smarter/smart clearer/clear
    brighter/bright darker/dark greater/great funnier/funny tastier/tasty thicker/thick closer/close
    simpler/simple earlier/early friendlier/friendly luckier/lucky lazier/lazy noisier/noisy
    angrier/angry hungrier/hungry uglier/ugly fatter/fat slimmer/slim tougher/tough smoother/smooth
    softer/soft fresher/fresh sweeter/sweet kinder/kind braver/brave wiser/wise shorter/short"""
)
_SUPERLATIVES: Final = frozenset(
    [re.sub(r"er$", "est", one) for one in _COMPARATIVES if one not in ("better", "worse")] + ["best", "worst"]
)
_ADJECTIVES: Final = frozenset(_COMPARATIVES.values()) | _set(
    """healthy important beautiful different famous main interesting popular special useful serious common
    difficult dangerous local foreign little other modern expensive favourite favorite wonderful
    great real major possible"""
)

# Where no noun follows: marks, prepositions and what starts a clause.
_FOLLOWS: Final = _set(
    """. , ! ? ; : $ ) in on at with from by that which who because when but if so since during while
    are were have"""
)
_VOWEL_SOUND: Final = re.compile(
    r"[aeio]|u(?!ni|na(?:ry|nim)|s[aeiu]|t[eio]|r[aeiuo]|b|ga|k|v|fo)|hour|honest|honou?r|heir"
)
_CONSONANT_SOUND: Final = re.compile(
    r"[bcdgjkpqtvwyz]|[nml][aeiouy]|r[aeiouyh]|f[aeioulry]|s[aeiouychklmnpqtw]"
    r"|h(?!our|onest|onou?r|eir|erb|istor|otel|abit|ero|yster|alluc|arm|ilar|orri|umble|undred|omage|ors|ypo|ydr|ypn)[aeiouy]"
    r"|uni(?!n|m|d|g)|una(?:ry|nim)|us[aeu]|uti|uto|eu|one$|once$"
)
_CONSONANT_START: Final = re.compile(r"one|once|oneself|ones|ouija|ewes?|eu.*")
# They say nothing about the article before them, which may be a letter or a slip for another word.
_NO_NAME: Final = _set(
    """and are all any every each either other our into also after about above under until around against
    the this that these those them his her their for from with but such they you she was were who
    which what when where than then there not some been will would can could had has have does did may
    its out off over upon amid among onto unto
    your always also"""
)
_PEOPLES: Final = _set(
    """American English Italian Indian African Asian Australian Austrian Irish Egyptian Israeli Iranian
    Iraqi Indonesian European German French Spanish Japanese Chinese Russian Polish Mexican
    Brazilian Canadian British Korean Turkish Swedish Greek Portuguese Dutch"""
)


def vowel_sound(word: str) -> bool:
    """Whether a word surely starts with the sound of a vowel: "hour", not "user"."""
    small = word.lower()
    if not _is_named(word) or _CONSONANT_START.fullmatch(small):
        return False
    return bool(_VOWEL_SOUND.match(small))


def consonant_sound(word: str) -> bool:
    """Whether a word surely starts with the sound of a consonant: "user", not "hour"."""
    small = word.lower()
    return _is_named(word) and bool(_CONSONANT_START.fullmatch(small) or _CONSONANT_SOUND.match(small))


def _is_named(word: str) -> bool:
    """Whether something is a word that an article may go with, and no letters that are named one by one."""
    if re.search(r"[^suoi]s$", word):
        # It may be a verb: "if a equals b".
        return False
    if not word.isascii() or not word.isalpha() or len(word) < 3 or word in _NO_NAME:
        return False
    return (word.islower() and bool(re.search(r"[aeiouy]", word))) or word in _PEOPLES


def any_word(word: str) -> bool:
    return word.isalpha() and word.islower()


def object_word(word: str) -> bool:
    """Whether a word may belong to an object: nothing that starts another clause, and no preposition."""
    return any_word(word) and word not in _NO_OBJECT


def ing_word(word: str) -> bool:
    return any_word(word) and len(word) > 4 and word.endswith("ing") and word not in _NO_ING


def participle(word: str) -> bool:
    return any_word(word) and (word in _DONE or (len(word) > 4 and word.endswith("ed") and word not in _NO_ED))


_NO_ING: Final = _set(
    """thing something nothing anything everything during morning evening string spring being king ring"""
)
_NO_OBJECT: Final = _set(
    """i he she we they you that which who whom what when where why how if because since as and or but than
    from of for with at by on in into until till before after not never is are was were am be been do did does
    have has had can could will would should may might must"""
)
_NO_ED: Final = _set("indeed speed need hundred")
_DONE: Final = frozenset(done for _, _, done in _FORMS) | _set(
    "been put cut let set read hit hurt cost shown proven born"
)


def _of(words: Iterable[str], form: str) -> dict[str, str]:
    make = {"s": s_form, "ing": ing_form}[form]
    return {word: make(word) for word in words}


def _bases_of_s(words: Iterable[str]) -> dict[str, str]:
    return {s_form(word): word for word in words if word != "be"}


_DO = _set("do does did don't doesn't didn't")
_MODALS = _set("can could will would shall should may might must can't couldn't won't wouldn't shouldn't cannot")
_NUMBERS = _set("two three four five six seven eight nine ten")

TABLES: Final[dict[str, Table]] = {
    "a-vowel": vowel_sound,
    "a-consonant": consonant_sound,
    "any": any_word,
    "ing": ing_word,
    "done": participle,
    "object": object_word,
    "doubled": _set(
        """the a an of to at for with from by and or but be been has have would could should
        this these those my your his their our its he we they if when where which who because than
        as into also there between during any while"""
    ),
    "base": _BASES,
    "sure-base": _SURE_VERBS,
    "base-to-ing": _of(_SURE_VERBS - {"go"}, "ing") | {"go": "going"},
    "clear-base-to-ing": {
        base: ing_form(base)
        for base in _SURE_VERBS - _set("pay make find keep buy sell say see get take give meet think do know tell")
    },
    "ing-to-base": {ing_form(base): base for base in _SURE_VERBS - {"be"}},
    "base-to-s": _of(_BASES - {"be"}, "s"),
    "subject-base-to-s": _of(
        (_BASES - {"be", "have", "do", "come", "run", "become"}) - _set("let put cut hit read set"), "s"
    ),
    "it-base-to-s": _of(
        _set("work help take make seem look need happen depend come go give cost mean sound feel start"), "s"
    ),
    "s-to-base": _bases_of_s(_BASES - _set("do have")) | {"does": "do", "has": "have"},
    "acts-to-base": _bases_of_s(_BASES - _set("do have be need")),
    "verb-s-to-base": _bases_of_s(_BASES - _set("do have be")),
    "past-to-base": _PAST,
    "any-past-to-base": _ANY_PAST,
    "regular-past-to-base": _REGULAR_PAST,
    "regular-done": frozenset(_REGULAR_PAST),
    "past-to-participle": _PARTICIPLES,
    "done-to-past": {done: past for base, past, done in _FORMS if base not in ("read", "get")},
    "past": frozenset(_ANY_PAST)
    | frozenset(_REGULAR_PAST)
    | _set("was were did had could would yesterday ago opened looked smiled turned"),
    "happen-to-s": _of(_set("work mean do happen go come start stop fail live run look"), "s"),
    "phrasal": _set(
        """go going goes went gone carry carried move moved turn turned come came coming log logged switch
        switched put hold held keep kept let break broke get got lived live sign signed take taken took bring
        brought call called drag dragged pass passed on in"""
    ),
    "do": _DO,
    "modal": _MODALS,
    "asks": _DO | _MODALS | _set("had has have let's lest and or nor than"),
    "number": _NUMBERS,
    "noun-to-plural": _PLURALS,
    "person-to-plural": {one: _PLURALS[one] for one in _SINGULARS - _set("day week month year hour minute time")},
    "sure-noun-to-plural": {
        one: _PLURALS[one]
        for one in _set(
            """student teacher friend problem idea question animal song computer car reason mistake tourist
            visitor kid girl boy employee customer restaurant hotel thing person"""
        )
    },
    "unit-to-plural": {one: _PLURALS[one] for one in _set("day week month year hour minute time")},
    "plural-to-noun": {plural: one for one, plural in _PLURALS.items()},
    "counted-plural": frozenset(_PLURALS.values()) - _set("days weeks months years hours minutes times"),
    "each-plural": {plural: one for one, plural in _PLURALS.items() if one not in _set("way time person people")},
    "adjective": _ADJECTIVES,
    "comparative": frozenset(_COMPARATIVES),
    "to-comparative": {
        plain: one for one, plain in _COMPARATIVES.items() if plain not in _set("good bad great fat kind close")
    },
    "superlative": _SUPERLATIVES,
    "to-superlative": {
        plain: re.sub(r"er$", "est", one)
        for one, plain in _COMPARATIVES.items()
        if plain in _set("tall big cheap happy young nice")
    },
    "follows": _FOLLOWS,
    "end": _set(". , ! ? ; : $ )"),
    "full-end": _set(". ! ? $"),
    "determiner": _set("the a an my your his her its our their this that these those some any all"),
    "me": _set("me him us them"),
    "opens": _set("^ because but when if , that so and"),
    "starts": _set('^ because but when " although'),
    "wanting": _set(
        """want wants wanted wanting need needs needed have has had going able decide decided decides try tries tried
        trying hope hoped hopes plan planned start started learn learned like forced allowed seemed how order used"""
    ),
    "enough-before": _set(
        "what all everything anything whatever much best things as than more little nothing only that which"
    ),
    "demands": _set(
        """suggest suggests suggested recommend recommends recommended demand demands demanded insist insists
        insisted require requires required propose proposes proposed important essential vital necessary
        imperative lest request requests requested ask asks asked order ordered orders prefer preferred
        until till ere unless if whether though although provided let god may wish should better necessary"""
    ),
    "unit": _set("years months weeks days hours"),
    "weekday": _set("monday tuesday wednesday thursday friday saturday sunday"),
    "month": _set("january february april june july august september october november december"),
    "uncountable": _map(
        """informations/information advices/advice furnitures/furniture equipments/equipment
        homeworks/homework knowledges/knowledge luggages/luggage baggages/baggage softwares/software
        hardwares/hardware sceneries/scenery feedbacks/feedback housework/housework jewelries/jewelry
        jewelleries/jewellery transportations/transportation clothings/clothing"""
    ),
    "opinion-to-s": _map("know/knows want/wants love/loves think/thinks believe/believes hate/hates"),
    "close": _set(
        """wife husband brother sister mother father mom mum dad friend friends family girlfriend boyfriend
        parents colleague colleagues team son daughter kids children boss roommate cousin partner"""
    ),
    "mass": _set("information advice furniture equipment homework knowledge luggage money traffic"),
    "wrong-plural": _map(
        """childs/children tooths/teeth teeths/teeth feets/feet sheeps/sheep deers/deer wifes/wives
        shelfs/shelves thiefs/thieves gooses/geese"""
    ),
    "many": _set("many several few various numerous both these those two three four five six seven eight nine ten"),
    "subject-of-him": _map("him/he her/she"),
    "is-to-was": _map("is/are was/were has/have"),
    "are-to-is": _map("are/is were/was have/has"),
    "aren't-to-isn't": _map("aren't/isn't don't/doesn't haven't/hasn't"),
    "isn't-to-aren't": _map("isn't/aren't wasn't/weren't doesn't/don't hasn't/haven't"),
    "allow-to-s": _of(
        _set("allow contain provide include require exist belong seem become depend enable consist describe"), "s"
    ),
    "start-to-ing": _of(
        _set("start use call run install open close leave travel play work sleep cook return visit add"), "ing"
    ),
    "close-to-s": _of(_set("close open start begin end leave"), "s"),
    "suggested": _BASES
    | _set("be add avoid check contact install move remove restart rest switch update upgrade wait wear"),
    "fail-to-s": _of(_set("crash fail freeze hang"), "s"),
    "have-done": {
        base: f"have {done}" for base, _, done in _FORMS if base in _set("see hear do write come eat meet buy get go")
    }
    | {"am": "have been", "are": "have been", "use": "have used", "try": "have tried", "visit": "have visited"},
    "was-of": _map("is/ are/ was/ were/"),
    "make-of-do": _map("do/make does/makes did/made doing/making done/made"),
    "do-of-make": _map("make/do makes/does made/did making/doing"),
    "take-of-make": _map("make/take makes/takes made/took making/taking"),
    "tell-of-say": _map("say/tell says/tells said/told saying/telling"),
    "these-to-this": _map("these/this those/that"),
    "possession": _set(
        """own life lives family families home homes parents children friends country house houses job jobs
        money mind minds room car name names mother father dreams behavior behaviour opinion opinions"""
    ),
    "spoke-to-spoken": _map("spoke/spoken broke/broken fell/fallen saw/seen"),
    "sent-now": _map(
        """send/sent write/wrote buy/bought meet/met tell/told give/gave ask/asked call/called receive/received
        get/got go/went come/came make/made find/found take/took visit/visited watch/watched see/saw"""
    ),
    "fewer": frozenset(_PLURALS.values()) - _set("days weeks months years hours minutes times ways")
    | _set(
        """accidents errors bugs users calls files lines words steps jobs trees points details resources options
        features tests workers dependencies"""
    ),
    "plural-subject": (frozenset(_PLURALS.values()) - _set("people times movies ways"))
    | _set(
        "results files users functions tests options values changes errors settings parents prices tools servers experiments authors models methods systems programs packages numbers rows columns fields buttons images photos messages tickets"
    ),
    "clear-s-to-base": _map(
        """wants/want likes/like says/say goes/go comes/come makes/make takes/take gives/give gets/get knows/know
        thinks/think sees/see finds/find tells/tell brings/bring becomes/become believes/believe seems/seem
        happens/happen learns/learn eats/eat writes/write speaks/speak understands/understand describes/describe
        shows/show suggests/suggest indicates/indicate allows/allow contains/contain requires/require
        explains/explain prefers/prefer agrees/agree hates/hate lets/let passes/pass fails/fail lives/live provides/provide exists/exist"""
    ),
    "tell-to-s": _map(
        """discuss/discusses describe/describes report/reports present/presents conclude/concludes give/gives
        introduce/introduces explain/explains provide/provides summarize/summarizes summarise/summarises
        contain/contains list/lists compare/compares review/reviews outline/outlines propose/proposes show/shows"""
    ),
    "single-subject": (_SINGULARS | _set("user function method program system server computer option"))
    - _set("company class people way time country team family"),
    "be-to-been": {"am": "have been", "are": "have been", "is": "has been"},
    "i'm-to-been": {
        "i'm": "I've been",
        "we're": "we've been",
        "they're": "they've been",
        "you're": "you've been",
        "he's": "he's been",
        "she's": "she's been",
        "it's": "it's been",
    },
    "measure": _of(_set("second minute hour day millisecond year month"), "s"),
    "since": _set(
        """## last yesterday years months weeks days hours then
        january february april june july august september october november december monday tuesday wednesday
        thursday friday saturday sunday christmas easter childhood"""
    ),
    "humans": _set("man woman girl boy person people men women students guy friend friends teacher"),
    "span": _set("years months weeks days hours year month week day time while"),
    "base-to-past": {base: past for base, past, _ in _FORMS} | {base: ed_form(base) for base in _REGULAR_VERBS},
    "days-of": _map("todays/today's tonights/tonight's tomorrows/tomorrow's yesterdays/yesterday's"),
    "someone-to-s": _of(
        (_BASES - {"be", "have", "do", "come", "run", "become"})
        - _set("let put cut hit read set like close open clean cook answer need call"),
        "s",
    )
    | {"notice": "notices", "have": "has"},
    "lasts": _set("broken ill sick closed open married unemployed offline down missing unavailable"),
    "doing": _set("living working waiting learning studying trying looking raining snowing playing running using"),
    "enjoyed": _of(
        _set("swim play dance cook travel run work walk watch listen sleep visit study read drive sail hike drink"),
        "ing",
    ),
    "body": _set("tail ears paws wings eyes mouth feet legs nose claws fur"),
    "lose": _map("loose/lose looses/loses loosing/losing loosed/lost"),
    "lost": _set("weight money hope faith interest sight track patience focus everything control confidence"),
}

"""Function words of English and of other languages, which nearly every sentence contains."""

from __future__ import annotations

from typing import Final


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH: Final = _set(
    """the and of to is are was were be been being am have has had do does did not with this that
    these those it its he she they we you our their his her my your what which who when where
    why how there if but or as at by from for on in an about would could should can will may
    might must because please than then them us me so all any some into out up very just only
    also after before more most other no yes never still too again here now
    hi hello dear thanks dont didnt doesnt isnt arent wasnt werent cant couldnt wouldnt shouldnt wont
    havent hasnt hadnt im ive youre theyre thats whats"""
)
"""English: the words in nearly every sentence, greetings, and contractions without their apostrophe."""

FOREIGN: Final = {
    name: _set(words)
    for name, words in {
        "ca": """el la els les un una i o de del dels al als amb per que no és són va ser ha en es
        se ens us jo tu ell ella això aquest aquesta més com però si quan molt també tot
        dins sense fins perquè on qui què
        l' d' n' s' m' t'""",
        "cs": """a i o v ve na do od po za ze se si je jsou být byl byla není to ten ta že jako ale
        nebo když kde co jak který která které už ještě jen tak proto pro při bez my vy jsem
        jsme mi mu jeho její""",
        "da": """og i en et at det den der de er var har ikke på til med for af som om jeg du han hun
        vi men eller så kan skal vil blev være have fra ved efter også når hvor hvad bare nu
        kun mit din sin deres dette denne""",
        "de": """der die das den dem des ein eine einen einem einer und oder aber ist sind war waren
        wird werden wurde hat haben nicht kein keine ich du er sie es wir ihr mich dich sich
        uns euch mir dir zu zum zur in im am an auf aus bei mit nach von vom vor für über
        unter um durch bis als wie wenn dass weil ob auch nur noch schon sehr mehr so was
        wer wo dann bitte danke mein dein sein unser ihre kann muss soll will""",
        "es": """el la los las un una unos unas y o pero de del al a en con por para sin que no se su
        sus es son era ser está están fue hay ha han me te lo le les nos yo tú él ella mi tu
        muy más como cuando donde si también ya todo este esta eso qué quién antes hasta
        desde aunque porque""",
        "et": """ja on ei et see ma sa ta me te nad kui aga või ka ning oli olid mis kes oma siis
        veel juba väga seda selle ole peab saab kuid ainult pärast enne""",
        "fi": """ja on ei se että hän minä sinä me te he oli ovat olen mutta tai kun jos niin myös
        vain mitä joka kuin sen tämä siitä ole voi nyt jo hyvin sitten mukaan kanssa ennen""",
        "fr": """le la les un une des du de et ou mais est sont était être a ont avait ne pas plus
        que qui quoi où je tu il elle nous vous ils elles on se ce cet cette ces mon ma
        mes ton ta son sa ses notre votre leur au aux en dans sur sous avec sans pour par
        chez si comme quand très bien tout tous fait été car donc
        l' d' qu' n' s' c' j' m' t' jusqu' lorsqu'""",
        "hr": """i u na za od do se je su da ne nije bio bila biti koji koja koje što kao ali ili ako
        kad kada iz po s sa o to taj ta samo još već mi vi ja ti on ona sam smo ste može
        treba nakon""",
        "hu": """a az és vagy de hogy nem van volt vannak lesz egy ez azt ezt is csak már még mint
        meg ha mert ki mi én te ő nagyon akkor után előtt kell lehet nincs minden itt ott""",
        "id": """dan yang di ke dari untuk dengan ini itu adalah tidak akan pada atau saya anda kami
        kita dia mereka ada juga bisa sudah belum oleh dalam sebagai karena jika hanya lebih""",
        "it": """il lo la i gli le un uno una e o ma di del della dei degli delle al alla ai in nel
        nella da dal con per su che non si è sono era essere ha hanno ho mi ti ci vi io tu
        lui lei noi loro questo questa più come quando dove se anche già tutto molto cosa
        perché prima dopo senza fino sei mio tuo suo
        l' d' un' c' dell' nell' all' dall' sull' quest'""",
        "lt": """ir yra ne kad tai su iš į o bet ar jis ji mes jūs aš tu kaip kai jau dar tik buvo
        bus nuo iki po už per apie labai gali reikia""",
        "lv": """un ir ne ka tas ar no uz bet vai viņš viņa mēs jūs es tu kā kad jau vēl tikai bija
        būs pēc par ļoti var vajag šis""",
        "nl": """de het een en of maar is zijn was waren wordt worden werd heeft hebben niet geen ik
        je jij hij zij ze we wij jullie u mij me hem haar ons hun te ten ter in op aan uit
        bij met naar van voor over onder om door tot als dan dat die dit deze wat wie waar
        toen nog al ook alleen zeer meer zo er hier daar want omdat kan moet zal wil mijn
        jouw uw""",
        "no": """og i en et å at det den der de er var har ikke på til med for av som om jeg du han
        hun vi men eller så kan skal vil ble være fra ved etter også når hvor hva bare nå
        kun mitt din sin deres dette denne""",
        "pl": """i w we z ze na do od po za o u się nie jest są był była było być to ten ta te że jak
        ale lub czy gdy kiedy gdzie co kto który która które już jeszcze tylko tak dla przy
        bez my wy ja ty on ona mam mi mu jego jej ich bo więc także bardzo może trzeba""",
        "pt": """o a os as um uma e ou mas de do da dos das ao à em no na nos nas com por para sem
        que não se é são era ser está foi há tem têm me te lhe nos eu tu ele ela meu minha
        seu sua muito mais como quando onde também já tudo este esta isso até desde porque
        você""",
        "ro": """și în la de din cu pe pentru un o nu este sunt era a fi că care ce să mai dar sau
        dacă când cum unde eu tu el ea noi voi ei îi al ai lui lor foarte după fără doar
        și-a""",
        "sk": """a i o v vo na do od po za zo sa si je sú byť bol bola nie to ten tá že ako ale alebo
        keď kde čo ktorý ktorá ktoré už ešte len tak preto pre pri bez my vy som sme mi mu
        jeho jej""",
        "sl": """in je so se da ne na za od do iz po v z s pri ki kot ali pa če ko kje kaj bil bila
        biti ni to ta tudi samo še že jaz ti on ona mi vi sem smo ste lahko zelo""",
        "sv": """och i en ett att det den de är var har inte på till med för av som om jag du han hon
        vi men eller så kan ska vill blev vara från vid efter också när var vad bara nu min
        din sin deras detta denna sig finns där här""",
        "tr": """ve bir bu şu o da de mi mı için ile çok daha ne var yok olarak gibi ama veya en
        kadar sonra önce ben sen biz siz onlar değil olan her ki ise""",
        "vi": """và là của có không cho một các được trong với này đã từ những khi người tôi bạn anh
        chị để ra đến như cũng nhưng nếu vì""",
    }.items()
}
"""Other languages, by their codes."""

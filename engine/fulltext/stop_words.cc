// SPDX-License-Identifier: Apache-2.0
//
// Lists of stop words: articles, pronouns, prepositions, conjunctions and forms of auxiliary verbs.

#include "engine/fulltext/stop_words.h"

#include <utility>

namespace pigment {
namespace {

// clang-format off
constexpr std::string_view kDanish[] = {
    "af", "alle", "alt", "anden", "at", "blev", "blive", "bliver", "da", "de", "dem", "den",
    "denne", "der", "deres", "det", "dette", "dig", "din", "disse", "dog", "du", "efter", "eller",
    "en", "end", "er", "et", "for", "fra", "ham", "han", "hans", "har", "havde", "have", "hende",
    "hendes", "her", "hos", "hun", "hvad", "hvis", "hvor", "i", "ikke", "ind", "jeg", "jer", "jo",
    "kunne", "man", "mange", "med", "meget", "men", "mig", "min", "mine", "mit", "mod", "ned",
    "noget", "nogle", "nu", "når", "og", "også", "om", "op", "os", "over", "på", "selv", "sig",
    "sin", "sine", "sit", "skal", "skulle", "som", "sådan", "thi", "til", "ud", "under", "var",
    "vi", "vil", "ville", "vor", "være", "været",
};
constexpr std::string_view kDutch[] = {
    "aan", "al", "alles", "als", "altijd", "andere", "ben", "bij", "daar", "dan", "dat", "de",
    "der", "deze", "die", "dit", "doch", "doen", "door", "dus", "een", "en", "er", "ge", "geen",
    "geweest", "haar", "had", "heb", "hebben", "heeft", "hem", "het", "hier", "hij", "hoe", "hun",
    "iemand", "iets", "ik", "in", "is", "ja", "je", "kan", "kon", "kunnen", "maar", "me", "meer",
    "men", "met", "mij", "mijn", "moet", "na", "naar", "niet", "niets", "nog", "nu", "of", "om",
    "omdat", "onder", "ons", "ook", "op", "over", "reeds", "te", "tegen", "toch", "toen", "tot",
    "u", "uit", "uw", "van", "veel", "voor", "want", "waren", "was", "wat", "werd", "wezen",
    "wie", "wil", "worden", "wordt", "zal", "ze", "zelf", "zich", "zij", "zijn", "zo", "zonder",
    "zou",
};
constexpr std::string_view kEnglish[] = {
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
    "but", "by", "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "he",
    "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may", "me", "more",
    "most", "my", "no", "not", "now", "of", "on", "one", "only", "or", "other", "our", "out",
    "over", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "through", "to", "too", "under", "up", "very",
    "was", "we", "were", "what", "when", "where", "which", "while", "who", "will", "with",
    "would", "you", "your",
};
constexpr std::string_view kFinnish[] = {
    "ei", "eivät", "emme", "en", "et", "ette", "että", "he", "heidän", "heidät", "heille",
    "heitä", "hän", "hänelle", "hänen", "hänet", "häntä", "itse", "ja", "johon", "joiden",
    "joihin", "joita", "joka", "jonka", "jos", "jossa", "josta", "jota", "jotka", "kanssa", "ken",
    "keneen", "kenen", "ketä", "koska", "kuin", "kuka", "me", "meidän", "meidät", "meille",
    "meitä", "mihin", "mikä", "minkä", "minua", "minulle", "minun", "minut", "minä", "missä",
    "mistä", "mitkä", "mitä", "mukaan", "mutta", "myös", "ne", "niiden", "niihin", "niin",
    "niitä", "noin", "nuo", "nyt", "näiden", "näitä", "nämä", "ole", "olemme", "olen", "olet",
    "olette", "oli", "olivat", "olla", "ollut", "on", "ovat", "se", "sekä", "sen", "siinä",
    "siitä", "sinun", "sinut", "sinä", "sitä", "tai", "te", "teidän", "teidät", "teitä", "tuo",
    "tämä", "tämän", "tätä", "vaan", "vai", "vaikka",
};
constexpr std::string_view kFrench[] = {
    "ai", "aie", "ait", "as", "au", "aux", "avaient", "avait", "avec", "avez", "avons", "c", "ce",
    "ces", "cette", "d", "dans", "de", "des", "du", "elle", "elles", "en", "est", "et", "eu",
    "eux", "fut", "il", "ils", "j", "je", "l", "la", "le", "les", "leur", "leurs", "lui", "m",
    "ma", "mais", "me", "mes", "moi", "mon", "même", "n", "ne", "nos", "notre", "nous", "on",
    "ont", "ou", "par", "pas", "pour", "qu", "que", "qui", "s", "sa", "se", "ses", "si", "son",
    "sont", "sur", "t", "ta", "te", "tes", "toi", "ton", "tu", "un", "une", "vos", "votre",
    "vous", "y", "à", "étaient", "était", "été", "êtes", "être",
};
constexpr std::string_view kGerman[] = {
    "aber", "alle", "allem", "allen", "aller", "alles", "als", "also", "am", "an", "ander",
    "andere", "anderem", "anderen", "anderer", "anderes", "auch", "auf", "aus", "bei", "bin",
    "bis", "bist", "da", "damit", "dann", "das", "dass", "dasselbe", "dein", "deine", "dem",
    "den", "denn", "der", "des", "dich", "die", "dies", "diese", "diesem", "diesen", "dieser",
    "dieses", "dir", "doch", "dort", "du", "durch", "ein", "eine", "einem", "einen", "einer",
    "eines", "er", "es", "etwas", "euch", "für", "hab", "habe", "haben", "hat", "hatte", "hatten",
    "hier", "hin", "hinter", "ich", "ihm", "ihn", "ihnen", "ihr", "ihre", "ihrem", "ihren",
    "ihrer", "ihres", "im", "in", "ins", "ist", "ja", "jede", "jedem", "jeden", "jeder", "jedes",
    "jetzt", "kann", "kein", "keine", "keinem", "keinen", "keiner", "man", "mein", "meine",
    "mich", "mir", "mit", "muss", "nach", "nicht", "nichts", "noch", "nun", "nur", "ob", "oder",
    "ohne", "sehr", "sein", "seine", "seinem", "seinen", "seiner", "seines", "selbst", "sich",
    "sie", "sind", "so", "solche", "soll", "sollte", "sondern", "sonst", "um", "und", "uns",
    "unser", "unter", "viel", "vom", "von", "vor", "war", "waren", "warst", "was", "weil",
    "welche", "wenn", "werde", "werden", "wie", "wieder", "will", "wir", "wird", "wirst", "wo",
    "wollen", "würde", "würden", "zu", "zum", "zur", "zwar", "zwischen", "über",
};
constexpr std::string_view kItalian[] = {
    "a", "ad", "agli", "ai", "al", "alla", "alle", "allo", "anche", "avere", "aveva", "c", "che",
    "chi", "ci", "coi", "col", "come", "con", "contro", "cui", "d", "da", "dagli", "dai", "dal",
    "dalla", "dalle", "dallo", "degli", "dei", "del", "della", "delle", "dello", "di", "dove",
    "e", "ed", "era", "erano", "essere", "fu", "gli", "ha", "hai", "hanno", "ho", "i", "il", "in",
    "io", "l", "la", "le", "lei", "li", "lo", "loro", "lui", "ma", "mi", "mia", "mie", "miei",
    "mio", "ne", "negli", "nei", "nel", "nella", "nelle", "nello", "noi", "non", "nostra",
    "nostro", "o", "per", "perché", "più", "quale", "quanto", "quella", "quelle", "quelli",
    "quello", "questa", "queste", "questi", "questo", "se", "sei", "si", "sia", "siamo", "sono",
    "sta", "su", "sua", "sue", "sugli", "sui", "sul", "sulla", "sulle", "sullo", "suo", "suoi",
    "ti", "tra", "tu", "tua", "tuo", "un", "una", "uno", "vi", "voi", "è",
};
constexpr std::string_view kNorwegian[] = {
    "alle", "at", "av", "begge", "ble", "bli", "blir", "både", "da", "de", "deg", "dei", "dem",
    "den", "denne", "der", "deres", "det", "dette", "di", "din", "disse", "du", "eller", "en",
    "er", "et", "ett", "etter", "for", "fordi", "fra", "før", "ha", "hadde", "han", "hans", "har",
    "henne", "hennes", "her", "hun", "hva", "hvem", "hver", "hvis", "hvor", "hvordan", "hvorfor",
    "i", "ikke", "inn", "jeg", "kan", "kom", "kun", "kunne", "man", "mange", "med", "meg",
    "meget", "mellom", "men", "mer", "min", "mitt", "mot", "mye", "ned", "noe", "noen", "når",
    "og", "også", "om", "opp", "oss", "over", "på", "samme", "seg", "selv", "si", "sin", "sine",
    "sitt", "skal", "skulle", "slik", "som", "så", "til", "ut", "uten", "var", "ved", "vi", "vil",
    "ville", "vår", "være", "vært", "å",
};
constexpr std::string_view kPortuguese[] = {
    "a", "ao", "aos", "aquela", "aquelas", "aquele", "aqueles", "aquilo", "as", "até", "com",
    "como", "da", "das", "de", "dela", "delas", "dele", "deles", "depois", "do", "dos", "e",
    "ela", "elas", "ele", "eles", "em", "entre", "era", "eram", "essa", "essas", "esse", "esses",
    "esta", "estas", "este", "estes", "está", "estão", "eu", "foi", "for", "foram", "há", "isso",
    "isto", "já", "lhe", "lhes", "mais", "mas", "me", "mesmo", "meu", "meus", "minha", "minhas",
    "muito", "na", "nas", "nem", "no", "nos", "nossa", "nosso", "num", "numa", "não", "nós", "o",
    "os", "ou", "para", "pela", "pelas", "pelo", "pelos", "por", "qual", "quando", "que", "quem",
    "se", "sem", "ser", "seu", "seus", "sou", "sua", "suas", "são", "só", "também", "te", "tem",
    "tinha", "tu", "tua", "um", "uma", "você", "vocês", "à", "às", "é",
};
constexpr std::string_view kRussian[] = {
    "а", "без", "более", "бы", "был", "была", "были", "было", "быть", "в", "вам", "вас", "весь",
    "во", "вот", "все", "всего", "всех", "вы", "где", "да", "для", "до", "его", "ее", "если",
    "есть", "еще", "же", "за", "здесь", "и", "из", "или", "им", "их", "к", "как", "ко", "когда",
    "кто", "ли", "либо", "мне", "может", "мы", "на", "надо", "наш", "не", "него", "нее", "нет",
    "ни", "них", "но", "ну", "о", "об", "однако", "он", "она", "они", "оно", "от", "очень", "по",
    "под", "при", "с", "со", "так", "также", "такой", "там", "те", "тем", "то", "того", "тоже",
    "той", "только", "том", "ты", "у", "уже", "хотя", "чего", "чей", "чем", "что", "чтобы", "чье",
    "чья", "эта", "эти", "это", "я",
};
constexpr std::string_view kSpanish[] = {
    "a", "al", "algo", "algunas", "algunos", "ante", "antes", "como", "con", "contra", "cual",
    "cuando", "de", "del", "desde", "donde", "durante", "e", "el", "ella", "ellas", "ellos", "en",
    "entre", "era", "eran", "eres", "es", "esa", "esas", "ese", "eso", "esos", "esta", "estas",
    "este", "esto", "estos", "está", "están", "fue", "fueron", "ha", "había", "han", "has",
    "hasta", "hay", "he", "la", "las", "le", "les", "lo", "los", "me", "mi", "mis", "mucho",
    "muchos", "muy", "más", "mí", "mía", "mío", "nada", "ni", "no", "nos", "nosotros", "nuestra",
    "nuestro", "o", "os", "otra", "otro", "para", "pero", "poco", "por", "porque", "que", "quien",
    "quienes", "qué", "se", "sea", "ser", "si", "sido", "sin", "sobre", "son", "soy", "su", "sus",
    "suyo", "sí", "también", "tanto", "te", "ti", "tiene", "todo", "todos", "tu", "tus", "tuyo",
    "tú", "un", "una", "uno", "unos", "vosotros", "y", "ya", "yo", "él",
};
constexpr std::string_view kSwedish[] = {
    "alla", "allt", "att", "av", "blev", "bli", "blir", "blivit", "de", "dem", "den", "denna",
    "deras", "dess", "dessa", "det", "detta", "dig", "din", "dina", "ditt", "du", "där", "då",
    "efter", "ej", "eller", "en", "er", "era", "ert", "ett", "från", "för", "ha", "hade", "han",
    "hans", "har", "henne", "hennes", "hon", "honom", "hur", "här", "i", "icke", "ingen", "inom",
    "inte", "jag", "ju", "kan", "kunde", "man", "med", "mellan", "men", "mig", "min", "mina",
    "mitt", "mot", "mycket", "ni", "nu", "när", "någon", "något", "några", "och", "om", "oss",
    "på", "samma", "sedan", "sig", "sin", "sina", "sitta", "själv", "skulle", "som", "så",
    "sådan", "till", "under", "upp", "ut", "utan", "vad", "var", "vara", "varför", "varit",
    "varje", "vars", "vart", "vem", "vi", "vid", "vilka", "vilken", "vilket", "vår", "våra",
    "vårt", "än", "är", "åt", "över",
};
// clang-format on

constexpr std::pair<std::string_view, std::span<const std::string_view>> kLists[] = {
    {"danish", kDanish},   {"dutch", kDutch},         {"english", kEnglish},
    {"finnish", kFinnish}, {"french", kFrench},       {"german", kGerman},
    {"italian", kItalian}, {"norwegian", kNorwegian}, {"portuguese", kPortuguese},
    {"russian", kRussian}, {"spanish", kSpanish},     {"swedish", kSwedish},
};

}  // namespace

std::span<const std::string_view> StopWordsOf(std::string_view language) {
  for (const auto& [name, words] : kLists) {
    if (name == language) return words;
  }
  return {};
}

}  // namespace pigment

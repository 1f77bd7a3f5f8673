import { choose, terms, type Table } from "../draft.ts";

const phobias: Table = {
  columns: "phobia fear root",
  rows: `
arachnophobia | spiders | “arachne”, spider
claustrophobia | narrow spaces | “claustrum”, a locked place
acrophobia | heights | “akron”, summit
hydrophobia | water | “hydor”, water
agoraphobia | open or crowded places | “agora”, market place
aviophobia | flying | “avis”, bird
xenophobia | strangers | “xenos”, stranger
cynophobia | dogs | “kyon”, dog
ophidiophobia | snakes | “ophis”, snake
nyctophobia | darkness | “nyx”, night
pyrophobia | fire | “pyr”, fire
coulrophobia | clowns | a modern coinage
ailurophobia | cats | “ailouros”, cat
triskaidekaphobia | the number thirteen | “treiskaideka”, thirteen
astraphobia | thunder and lightning | “astrape”, lightning
hemophobia | blood | “haima”, blood
entomophobia | insects | “entomon”, insect
ornithophobia | birds | “ornis”, bird
trypanophobia | needles | “trypanon”, borer
glossophobia | speaking in public | “glossa”, tongue
thalassophobia | the sea | “thalassa”, sea
musophobia | mice | “mus”, mouse
bibliophobia | books | “biblion”, book
ergophobia | work | “ergon”, work
gamophobia | marriage | “gamos”, marriage
chronophobia | time | “chronos”, time
ablutophobia | washing | “abluere”, to wash off
`,
  ask: [
    choose("What does somebody with {phobia} fear?", "fear", { hard: 2 }),
    choose("What is the fear of {fear} called?", "phobia", { hard: 4 }),
  ],
  explain: "{Phobia} is the fear of {fear}; the word comes from this root: {root}.",
};

const studies: Table = {
  columns: "study subject root",
  rows: `
astronomy | stars and planets | Greek “astron”, star
zoology | animals | Greek “zoon”, animal
botany | plants | Greek “botane”, pasture
meteorology | weather | Greek “meteoros”, high in the air
archaeology | the past by digging | Greek “archaios”, old
psychology | mind and behaviour | Greek “psyche”, soul
geology | rocks and the Earth's crust | Greek “ge”, earth
cardiology | the heart | Greek “kardia”, heart
ornithology | birds | Greek “ornis”, bird
entomology | insects | Greek “entomon”, insect
etymology | the origin of words | Greek “etymos”, true
seismology | earthquakes | Greek “seismos”, shaking
palaeontology | fossils | Greek “palaios”, ancient
dermatology | the skin | Greek “derma”, skin
genealogy | family descent | Greek “genea”, generation
ichthyology | fish | Greek “ichthys”, fish
herpetology | reptiles and amphibians | Greek “herpeton”, creeping thing
mycology | fungi | Greek “mykes”, mushroom
vexillology | flags | Latin “vexillum”, banner
numismatics | coins | Greek “nomisma”, coin
philately | postage stamps | Greek “ateleia”, freedom from charge
cartography | maps | French “carte”, card
speleology | caves | Greek “spelaion”, cave
oenology | wine | Greek “oinos”, wine
nephrology | the kidneys | Greek “nephros”, kidney
haematology | the blood | Greek “haima”, blood
ophthalmology | the eye | Greek “ophthalmos”, eye
campanology | bells | Latin “campana”, bell
dendrology | trees | Greek “dendron”, tree
toxicology | poisons | Greek “toxikon”, poison for arrows
limnology | lakes and inland waters | Greek “limne”, lake
pomology | fruit growing | Latin “pomum”, fruit
graphology | handwriting | Greek “graphein”, to write
horology | clocks and the measuring of time | Greek “hora”, hour
onomastics | names | Greek “onoma”, name
conchology | mollusc shells | Greek “konche”, mussel
myrmecology | ants | Greek “myrmex”, ant
cetology | whales and dolphins | Greek “ketos”, sea monster
`,
  ask: [
    choose("What is studied in {study}?", "subject", { hard: 0 }),
    choose("What is the study of {subject} called?", "study", { hard: 2 }),
  ],
  explain: "{Study} deals with {subject}; its name comes from {root}.",
};

const numbers: Table = {
  columns: "question right detail",
  rows: `
How many days are there in a leap year? | 366 | The extra day is 29 February.
How many sides has a hexagon? | 6 | The cells of honeycombs have this shape.
How many minutes are there in a full day? | 1,440 | That is 24 times 60.
How many letters are there in the modern English alphabet? | 26 | Five of them are plain vowels.
How many squares are there on one chessboard, counting only the smallest? | 64 | It has eight rows and eight files.
How many cards are there in a standard pack without jokers? | 52 | There are four suits of thirteen.
How many years are there in a century? | 100 | Ten of them make a millennium.
How many strings has a standard violin? | 4 | They are tuned G, D, A and E.
How many colours are usually named in the rainbow after Newton? | 7 | Indigo was added to reach the number.
How many permanent teeth has a full adult human set? | 32 | Four of them are wisdom teeth.
How many bones has a typical adult human body? | 206 | A baby has many more, which grow together.
How many planets circle the Sun by the definition of 2006? | 8 | Pluto became a dwarf planet.
How many pawns does each chess player start with? | 8 | They stand on the second row.
How many dots are there in all on an ordinary die? | 21 | Opposite faces add up to seven.
How many zeros has a million written out? | 6 | A billion today has nine.
How many stars are on the flag of the United States? | 50 | There is one for each state.
How many stripes are on the flag of the United States? | 13 | They stand for the first colonies.
How many stars are on the flag of Europe? | 12 | The number does not depend on the members.
How many letters has the modern Greek alphabet? | 24 | It runs from alpha to omega.
How many dominoes are there in a double-six set? | 28 | The tiles run from double blank upwards.
How many points has the bullseye at the centre of a dartboard? | 50 | The ring around it counts 25.
How many carats is pure gold? | 24 | Eighteen carats are three quarters gold.
How many signs has the western zodiac? | 12 | It begins with the Ram.
How many animals are in the Chinese zodiac? | 12 | It begins with the Rat.
How many chromosomes has a normal human body cell? | 46 | They form 23 pairs.
How many fluid ounces are in a US pint? | 16 | The imperial pint has twenty of its own.
How many seconds are there in an hour? | 3,600 | That is 60 times 60.
How many black keys has a piano with 88 keys? | 36 | The other 52 are white.
How many pairs of ribs has a typical human being? | 12 | The lowest two pairs are called floating.
How many faces has an icosahedron? | 20 | Each one is a triangle.
How many feet are there in a mile? | 5,280 | A mile is about 1.6 kilometres.
How many time zones does China officially use? | 1 | It follows the clock of Beijing.
`,
  ask: [],
  explain: "{detail}",
};

const words = terms(
  {
    which: "Who or what {clue}?",
    about: "Which of these is true of {term}?",
    explain: "{Term} {clue}. {detail}",
  },
  `
a cartographer | draws maps | The trade is very old: a Babylonian tablet shows one.
a cobbler | mends shoes | The word for a maker of new ones is cordwainer.
a florist | sells flowers | The Latin “flos” means flower.
an optician | fits glasses | An ophthalmologist treats the eyes.
a locksmith | makes and opens locks | Most serve doors, cars and safes.
a lexicographer | writes dictionaries | Samuel Johnson called himself a harmless drudge.
a cooper | makes barrels | The name became a common surname.
a fletcher | makes arrows | The French “flèche” means arrow.
a chandler | makes or sells candles | Later the word meant a ship's supplier too.
a farrier | shoes horses | The Latin “ferrum” means iron.
a milliner | makes women's hats | The word comes from the city of Milan.
a philatelist | collects stamps | The Penny Black of 1840 is the first.
a haberdasher | sells buttons, ribbons and thread | In America it means men's clothing.
a steeplejack | climbs towers to repair them | Chimneys are part of the work.
a luthier | makes stringed instruments | The word comes from the lute.
braille | is writing of raised dots for the blind | It was devised in Paris by a youth.
Morse code | is writing of dots and dashes | SOS is three short, three long, three short.
semaphore | is signalling with two flags | Ships used it.
Esperanto | is a planned language of 1887 | L. L. Zamenhof made it.
Latin | was the language of ancient Rome | French and Spanish grew out of it.
sign language | uses hands and face in place of the voice | There are hundreds of kinds.
Sanskrit | is the classical language of India | It is related to Greek.
ambidextrous | means able to use both hands equally well | The Latin means “right on both sides”.
nocturnal | means active at night | The opposite is diurnal.
bilingual | means speaking two languages | More than two is multilingual.
a palindrome | reads the same backwards | “Level” is one.
an anagram | mixes the letters of another word | “Listen” gives “silent”.
an acronym | is made of the first letters of several words | “Laser” is one.
a synonym | means the same as another word | “Big” and “large” are an example.
an antonym | means the opposite of another word | “Hot” and “cold” are an example.
a homophone | sounds the same as another word | “Sea” and “see” are an example.
a pangram | uses every letter of the alphabet | One is about a quick brown fox.
a portmanteau word | blends two words, as in “brunch” | Lewis Carroll gave it the name.
an eponym | gives its name to a thing | The sandwich has an earl.
a spoonerism | swaps the first sounds of words | It is named after an Oxford clergyman.
a malapropism | confuses words that sound alike | It is named after a lady in a play of 1775.
serendipity | is finding something good by chance | Horace Walpole coined the word.
schadenfreude | is joy at another's misfortune | English borrowed it from German.
a centenarian | is at least a hundred years old | One of 110 is a supercentenarian.
an heirloom | is a valued thing handed down in a family | “Loom” once meant any tool.
a decade | lasts ten years | The Greek “deka” means ten.
a fortnight | lasts two weeks | The word means fourteen nights.
a baker's dozen | is thirteen | Bakers feared fines for short weight.
a gross | is twelve dozen | That makes 144.
a score | is twenty | Lincoln spoke of four of them and seven years.
a ream | is 500 sheets of paper | It was once 480.
a nautical mile | is 1,852 metres | It is one minute of latitude.
a fathom | is a depth of six feet | It was the span of two arms.
a furlong | is an eighth of a mile | It was the length of a furrow.
a knot | is a speed of one nautical mile per hour | It comes from a rope with marks.
a hand | is a measure of horses of four inches | It is used to the withers.
a carat of gems | is a weight of a fifth of a gram | It comes from carob seeds.
`,
);

/** Answers that are numbers: near numbers of the same form make the wrong choices. */
export const numberFacts = numbers;
export const tables: readonly Table[] = [phobias, studies, words];

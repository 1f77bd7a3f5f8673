import { choose, terms, type Table } from "../draft.ts";

const gods: Table = {
  columns: "god culture domain detail",
  rows: `
Zeus | Greek | king of the gods and lord of thunder | He overthrew his father Cronus.
Thor | Norse | god of thunder with a hammer | His hammer is called Mjölnir.
Poseidon | Greek | god of the sea and of earthquakes | His weapon is the trident.
Athena | Greek | goddess of wisdom who sprang from her father's head | The owl is her bird.
Aphrodite | Greek | goddess of love and beauty | She rose from the foam of the sea.
Odin | Norse | one-eyed chief of the Aesir | His horse has eight legs.
Anubis | Egyptian | jackal-headed god of embalming | He weighs the heart of the dead.
Ra | Egyptian | god of the Sun who sails the sky in a boat | He fights a serpent each night.
Mars | Roman | god of war and father of Romulus | A planet and a month are named after him.
Loki | Norse | trickster and father of the wolf Fenrir | He brought about the death of Balder.
Hades | Greek | lord of the underworld | His dog has three heads.
Ares | Greek | god of the fury of battle | His children include Fear and Terror.
Apollo | Greek | god of music and prophecy with an oracle at Delphi | His twin is Artemis.
Artemis | Greek | goddess of the hunt and twin of Apollo | Her temple at Ephesus was a wonder of the world.
Hermes | Greek | messenger of the gods with winged sandals | He also leads the souls of the dead.
Dionysus | Greek | god of wine and ecstasy | Theatre grew from his festival.
Hephaestus | Greek | god of fire and smiths | He walks with a limp.
Demeter | Greek | goddess of grain and mother of Persephone | Winter is the time of her grief.
Isis | Egyptian | goddess of magic and mother of Horus | She gathered the pieces of Osiris.
Osiris | Egyptian | god of the dead who was torn to pieces | Seth was his murderer.
Thoth | Egyptian | ibis-headed god of writing | He notes the verdict on the dead.
Bastet | Egyptian | cat goddess of Bubastis | Cats were mummified in her honour.
Freyja | Norse | goddess of love whose chariot is drawn by cats | She owns the necklace Brísingamen.
Heimdall | Norse | watchman of the bridge Bifröst | His horn announces the last battle.
Hel | Norse | ruler of the dead who died of age or sickness | Half of her is dark.
Janus | Roman | god of gates and beginnings with two faces | The first month of the year is named after him.
Vesta | Roman | goddess of the hearth served by virgins | Her fire was never to go out.
Vulcan | Roman | god of fire and forges | Fire-spouting mountains are named after him.
Quetzalcoatl | Aztec | feathered serpent | The Maya called him Kukulkan.
Huitzilopochtli | Aztec | god of war and Sun of Tenochtitlan | His name speaks of a hummingbird.
Tlaloc | Aztec | goggle-eyed god of rain | Children's tears were thought to please him.
Inti | Inca | god of the Sun and ancestor of emperors | His festival is Inti Raymi.
Amaterasu | Japanese | goddess of the Sun and ancestress of emperors | She once hid in a cave.
Susanoo | Japanese | storm god who slew an eight-headed dragon | He found a sword in its tail.
Ishtar | Mesopotamian | goddess of love and war | A gate of Babylon was hers.
Marduk | Mesopotamian | patron god of Babylon | He slew Tiamat.
Gilgamesh | Mesopotamian | king of Uruk who sought eternal life | His friend was Enkidu.
The Dagda | Irish | father figure with a cauldron that never empties | His club both kills and revives.
Lugh | Irish | master of all crafts and killer of Balor | A harvest feast bears his name.
Perun | Slavic | god of thunder and oaks | His enemy is Veles.
Ukko | Finnish | god of sky and thunder | He is prayed to for rain.
Väinämöinen | Finnish | old singer of the Kalevala | He made a kantele from a pike's jaw.
Anansi | West African (Akan) | spider and trickster | He won all stories from the sky god.
Ogun | West African (Yoruba) | god of iron | Smiths and drivers honour him.
Pele | Hawaiian | goddess of volcanoes | She lives in Kīlauea.
Ahura Mazda | Persian | wise lord of Zoroaster's faith | His enemy is Angra Mainyu.
`,
  ask: [
    choose("Which figure of myth is the {domain}?", "god", {
      near: "culture",
      explain: "{God} is the {domain} ({culture}). {detail}",
    }),
    choose("To which mythology does {god} belong?", "culture", { hard: 4 }),
    choose("Which of these fits {god} of {culture} mythology?", "domain", {
      hard: 4,
      near: "culture",
    }),
  ],
  explain: "{God} belongs to {culture} mythology: {domain}. {detail}",
};

const pairs: Table = {
  columns: "greek roman what",
  rows: `
Zeus | Jupiter | the king of the gods
Hera | Juno | the queen of the gods
Poseidon | Neptune | the god of the sea
Hades | Pluto | the god of the underworld
Aphrodite | Venus | the goddess of love
Ares | Mars | the god of war
Athena | Minerva | the goddess of wisdom
Artemis | Diana | the goddess of the hunt
Hermes | Mercury | the messenger of the gods
Hephaestus | Vulcan | the god of smiths
Demeter | Ceres | the goddess of grain
Dionysus | Bacchus | the god of wine
Hestia | Vesta | the goddess of the hearth
Eros | Cupid | the god of desire
Heracles | Hercules | the hero of twelve labours
Persephone | Proserpina | the queen of the underworld
Nike | Victoria | the goddess of victory
Eos | Aurora | the goddess of dawn
Selene | Luna | the goddess of the Moon
Helios | Sol | the god of the Sun
Cronus | Saturn | the father of the king of the gods
Tyche | Fortuna | the goddess of luck
Asclepius | Aesculapius | the god of healing
Odysseus | Ulysses | the wily hero who came home after twenty years
Gaia | Terra | the goddess of the earth
Eris | Discordia | the goddess of strife
Hypnos | Somnus | the god of sleep
Irene | Pax | the goddess of peace
Themis | Justitia | the goddess of justice
`,
  ask: [
    choose("What did the Romans call the Greek {greek}?", "roman"),
    choose("What is the Greek name of the Roman {roman}?", "greek", { hard: 2 }),
    choose("Who is {what} in Roman myth?", "roman", { hard: 4 }),
  ],
  explain: "{Greek} is {what}; the Romans used the name {roman}.",
};

const tales = terms(
  {
    which: "In myth and legend, who or what {clue}?",
    about: "In myth and legend, which of these is true of {term}?",
    explain: "{Term} {clue}. {detail}",
  },
  `
the Minotaur | was a man with a bull's head in a labyrinth | Theseus killed it.
Medusa | had snakes for hair and turned people to stone | Perseus cut off her head.
Pegasus | was a winged horse | He sprang from a Gorgon's blood.
Pandora | opened a jar of evils | Hope alone stayed inside.
Icarus | flew too near the Sun on wings of wax | His father Daedalus made the wings.
Achilles | could be wounded only at the heel | His mother dipped him in the Styx.
King Midas | turned all he touched to gold | He washed it off in the Pactolus.
Narcissus | fell in love with his own reflection | A flower grew where he died.
Sisyphus | rolls a stone uphill for ever | He had cheated death.
Prometheus | stole fire for mankind | An eagle ate his liver each day.
Atlas | carries the heavens on his shoulders | A mountain range bears his name.
Oedipus | solved the riddle of the Sphinx | He killed his father unknowingly.
Orpheus | looked back and lost his wife Eurydice | His song moved stones.
Jason | led the Argonauts to the Golden Fleece | Medea helped him.
Helen | was carried off to Troy by Paris | Her face “launched a thousand ships”.
Cassandra | foretold the truth but was never believed | Apollo had cursed her.
Penelope | wove by day and unpicked by night | She kept her suitors waiting.
Circe | turned sailors into pigs | She lived on the island Aeaea.
Charon | ferries the dead over the river | He is paid with a coin.
Tantalus | stands in water he cannot drink | The fruit above him draws back.
Arachne | was turned into a spider | She had challenged a goddess at the loom.
King Arthur | drew a sword from a stone | His court was at Camelot.
Merlin | was the wizard who advised a British king | A lady enclosed him.
Sir Galahad | was the purest knight, who found the Grail | He was a son of Lancelot.
Siegfried | bathed in dragon's blood | A leaf left one spot open.
Beowulf | killed Grendel and his mother | The poem is in Old English.
Robin Hood | robbed the rich for the poor in Sherwood | His foe is a sheriff.
William Tell | shot an apple from his son's head | He is a hero of Switzerland.
Romulus | founded Rome and was suckled by a wolf | He killed his twin.
Yggdrasil | is the world tree of the North | A squirrel runs up and down it.
Ragnarök | is the doom of the gods in the North | A wolf swallows the Sun.
the Valkyries | choose the slain for Valhalla | Their name says so.
the phoenix | burns and rises from its ashes | Its home was Arabia.
the basilisk | kills by its look | It hatches from a cock's egg.
a centaur | is half man and half horse | Chiron taught heroes.
a griffin | is part eagle and part lion | It guards gold.
Cerberus | is the three-headed dog of the underworld | Heracles fetched him up.
the Hydra | grew two heads for each one cut off | Its home was Lerna.
a banshee | wails before a death in Ireland | She belongs to a family.
a golem | is made of clay and brought to life by a word | The best known is from Prague.
Baba Yaga | lives in a hut on chicken legs | She flies in a mortar.
a kelpie | is a water horse of Scotland | It drowns its riders.
a kappa | is a water imp of Japan with a bowl of water on its head | It likes cucumbers.
the wendigo | is a man-eating spirit of the Algonquian peoples | It is tied to winter and hunger.
the Norns | spin fate at the roots of the world tree | They correspond to the Greek Moirai.
Ariadne | gave a hero the thread out of the labyrinth | He left her on Naxos.
Fenrir | was bound with a ribbon of impossible things | Týr lost a hand over it.
Jörmungandr | is the serpent that lies round the world | It and its slayer die together.
Cú Chulainn | is the hound-named hero of Ulster | He fought at a ford alone.
`,
);

export const tables: readonly Table[] = [gods, pairs, tales];

import { choose, terms, type Table } from "../draft.ts";

const animals = terms(
  {
    which: "Which animal {clue}?",
    about: "Which of these is true of {term}?",
    explain: "{Term} {clue}. {detail}",
  },
  `
the blue whale | is the largest animal known to have lived | It feeds on krill.
the giraffe | is the tallest living land animal | Its neck has seven vertebrae like ours.
the cheetah | is the fastest runner on land | It tires after a short sprint.
the African elephant | is the heaviest living land animal | Its trunk has tens of thousands of muscle bundles.
the ostrich | is the largest living bird | It has two toes on each foot.
the giant panda | lives almost wholly on bamboo | It lives wild in China only.
the koala | feeds on eucalyptus leaves | It is a marsupial and no bear.
the bat | is the only mammal group with true powered flight | Many kinds find their way by echo.
the chameleon | can change its colour and move its eyes separately | It catches prey with a long tongue.
the platypus | is an egg-laying mammal with a bill like a duck's | The male has a poisonous spur.
the octopus | has eight arms and three hearts | Its blood is blue.
the peregrine falcon | is the fastest animal in a dive | It strikes birds in the air.
the polar bear | is the largest land predator of the Arctic | Its skin under the fur is black.
the camel | stores fat in humps | The Bactrian kind has two.
the hummingbird | can fly backwards and hover before flowers | Its heart beats over a thousand times a minute.
the emperor penguin | breeds on the ice in the Antarctic winter | The male keeps the egg on his feet.
the monarch butterfly | migrates from Canada to Mexico | Its caterpillars eat milkweed.
the salmon | swims up rivers to spawn where it hatched | It finds its stream by smell.
the honeybee | tells its fellows of flowers by a waggle dance | Karl von Frisch read the dance.
the beaver | builds dams of felled trees | Its front teeth never stop growing.
the sloth | hangs in trees and moves very slowly | Algae grow in its fur.
the komodo dragon | is the largest living lizard | It lives on a few Indonesian islands.
the albatross | has the largest wingspan of living birds | The wandering kind reaches over three metres.
the seahorse | carries the young in a pouch of the male | It swims upright.
the narwhal | has one long spiral tusk | The tusk is a tooth.
the axolotl | is a salamander that keeps its gills for life | It comes from lakes near Mexico City.
the kiwi | is a flightless bird with nostrils at the tip of its bill | It lives in New Zealand.
the okapi | is the nearest relative of the giraffe | It lives in the forests of the Congo.
the tardigrade | survives drying, deep cold and even space | It is also called water bear.
the coelacanth | is a lobe-finned fish once thought extinct | One was caught off South Africa in 1938.
the tuatara | is the last of an ancient order of reptiles in New Zealand | It looks like a lizard but is none.
the pangolin | is a mammal covered with scales | It rolls up into a ball.
the aye-aye | is a lemur that taps wood and probes it with a thin finger | It lives on Madagascar.
the mantis shrimp | strikes with the fastest punch known of crustaceans | Its eyes have up to sixteen kinds of colour receptors.
the archerfish | shoots insects down with a jet of water | It allows for the bending of light.
the naked mole-rat | lives in colonies with a queen like an insect | It lives in East Africa.
the cuckoo | lays its eggs in the nests of other birds | The chick throws out its foster siblings.
the electric eel | stuns prey with shocks of hundreds of volts | It is a knifefish of South America.
the woodpecker | drums on trunks and picks insects out of bark | Its tongue wraps round the skull.
the horseshoe crab | has blue blood used to test medicines for bacteria | It is nearer to spiders than to crabs.
the lyrebird | imitates chainsaws and camera shutters | It lives in Australia.
the hoatzin | is a bird whose chicks have claws on the wings | It digests leaves by fermenting them.
`,
);

const plants = terms(
  {
    which: "Which plant or tree {clue}?",
    about: "Which of these is true of {term}?",
    explain: "{Term} {clue}. {detail}",
    hard: 6,
  },
  `
the oak | bears acorns | Its bark was used to tan leather.
the sunflower | turns its young flower heads with the Sun | Its seeds stand in spirals.
the coast redwood | is the tallest kind of tree | One in California is over 115 metres high.
bamboo | is a grass that can grow almost a metre a day | Pandas eat it.
the Venus flytrap | snaps its leaves shut on insects | It grows wild in the Carolinas.
the baobab | stores water in a swollen trunk | It is sometimes called upside-down tree.
the dandelion | spreads its seeds by little parachutes | Its French name means lion's tooth.
the cactus | has spines in place of leaves and stores water in its stem | Nearly all kinds come from the Americas.
the mangrove | stands with its roots in salty tidal water | It shelters young fish.
the lotus | has leaves from which water rolls off with the dirt | It is sacred in India.
the rafflesia | bears the largest single flower | It smells of rotting flesh.
duckweed | is among the smallest flowering plants and floats on ponds | It multiplies by budding.
the ginkgo | has fan-shaped leaves and no close living relatives | It survived near the bomb in Hiroshima.
the cork oak | has bark that is peeled for bottle stoppers | Most of it grows in Portugal.
foxglove | yields a heart medicine called digitalis | It is very poisonous.
the aspen | has leaves that tremble in the slightest wind | One colony in Utah shares a single root system.
mistletoe | grows half parasitic on the branches of trees | Birds spread its sticky seeds.
the welwitschia | grows only two leaves in a life of centuries | It lives in the Namib Desert.
the yew | is a poisonous conifer with red seed cups once used for longbows | It can live for over a thousand years.
the bristlecone pine | includes single trees over 4,800 years old | They grow in the mountains of California and Nevada.
the pitcher plant | drowns insects in a jug-shaped leaf | Its rim is slippery.
the banyan | sends roots down from its branches that become trunks | It is a kind of fig.
the titan arum | has the tallest unbranched flower stand | It blooms once in several years on Sumatra.
the monkey puzzle | is an evergreen of Chile with sharp, scale-like leaves | Its seeds were food for native people.
deadly nightshade | yields atropine, which widens the pupils | Its Latin name is belladonna.
sphagnum | is the moss that forms peat bogs | It holds many times its weight in water.
`,
);

const young: Table = {
  columns: "animal young detail",
  rows: `
cat | kitten | Its eyes open after about ten days.
sheep | lamb | The meat of the young animal has the same name.
cow | calf | A female one grows into a heifer.
goat | kid | Its skin was used for fine gloves.
horse | foal | It can stand within hours of its birth.
kangaroo | joey | It grows up in a pouch.
goose | gosling | It follows what it sees first after hatching.
swan | cygnet | Its down is grey at first.
frog | tadpole | It breathes with gills at first.
deer | fawn | White spots hide it in the undergrowth.
lion | cub | It has spots that fade later.
owl | owlet | It often leaves the nest before it can fly.
hare | leveret | It is born with fur and open eyes.
eel | elver | It swims up rivers from the sea.
hawk | eyas | The word comes from falconry.
pigeon | squab | Its parents feed it with crop milk.
turkey | poult | It leaves the nest on the first days.
salmon | parr | It carries dark marks on its sides.
oyster | spat | It settles on a firm ground for life.
`,
  ask: [
    choose("What is a young {animal} called?", "young", { hard: 6 }),
    choose("Which animal's young is called {young}?", "animal", { hard: 8 }),
  ],
  explain: "The young of the {animal} is called {young}. {detail}",
};

const groups: Table = {
  columns: "animal group detail",
  rows: `
lion | pride | It consists mostly of related females.
wolf | pack | It is usually a family.
bee | swarm | It leaves the old hive with the old queen.
whale | pod | Killer whales stay in theirs for life.
goose | gaggle | In the air it becomes a skein.
kangaroo | mob | A large male leads it.
crow | murder | The term goes back to the 15th century.
owl | parliament | The term was made popular in the 20th century.
salmon | run | It moves up a river to spawn.
giraffe | tower | The term plays on the height of the animal.
rhinoceros | crash | The term plays on the force of the animal.
starling | murmuration | Thousands of birds turn as one.
lark | exaltation | The term goes back to the 15th century.
raven | unkindness | People once thought the parents cruel.
hedgehog | prickle | The animals in fact live alone.
peacock | muster | The term goes back to the 15th century.
quail | covey | It sleeps in a circle with heads outward.
finch | charm | The word meant a blended song.
turkey | rafter | The term is used for the wild bird.
ferret | business | The term goes back to the 15th century.
badger | cete | The word is of unknown origin.
hawk | cast | It was a pair flown together in falconry.
crocodile | bask | The animals warm themselves in the sun.
`,
  ask: [
    choose("What is the traditional English word for a group of the animal {animal}?", "group", {
      hard: 20,
    }),
    choose("Of which animal is a group traditionally called “{group}”?", "animal", { hard: 20 }),
  ],
  explain: "A group of the animal {animal} is traditionally called {group}. {detail}",
};

const words = terms(
  {
    which: "In nature, what {clue}?",
    about: "In nature, which of these is true of {term}?",
    explain: "In nature, {term} {clue}. {detail}",
    hard: 4,
  },
  `
hibernation | is the winter sleep of some animals | Body temperature and heartbeat fall.
a herbivore | eats plants only | Rabbits and cows are examples.
a carnivore | eats mainly meat | Cats are examples.
an omnivore | eats both plants and animals | Pigs and humans are examples.
camouflage | hides an animal by its look | The stick insect is a master of it.
a marsupial | carries its young in a pouch | Most kinds live in Australia.
metamorphosis | turns a caterpillar into a butterfly | Frogs go through one too.
pollination | brings pollen to the stigma of a flower | Wind and insects do it.
a deciduous tree | loses its leaves each year | The opposite is evergreen.
an atoll | is a ring-shaped coral island around a lagoon | Darwin explained how it forms.
a stalactite | hangs from the roof of a cave | Its counterpart grows from the floor.
a geyser | throws hot water and steam into the air | The name comes from Iceland.
a tsunami | is a sea wave caused by a quake or slide | Its Japanese name means harbour wave.
a glacier | is a slowly flowing body of ice | It carves U-shaped valleys.
the aurora | is a glow of the polar sky caused by the solar wind | It is seen in green and red.
a monsoon | is a wind that turns with the seasons and brings rain | India's harvests depend on it.
a tornado | is a spinning column of air that touches the ground | It is rated on the Enhanced Fujita scale.
permafrost | is ground that stays frozen for years | Mammoths have been found in it.
the tundra | is a treeless cold plain | Mosses and lichens grow there.
the savanna | is tropical grassland with scattered trees | The Serengeti is one.
symbiosis | is a close living together of different species | Clownfish and sea anemones show it.
lichen | is a partnership of a fungus and an alga | It grows on bare rock.
bioluminescence | is light made by living things | Fireflies show it.
a keystone species | holds its whole community together | The sea otter is an example.
mycelium | is the network of threads of a fungus | The mushroom is only its fruit.
basalt | is dark volcanic rock that can form six-sided columns | The Giant's Causeway is made of it.
marble | is limestone changed by heat and pressure | Sculptors prize it.
amber | is fossil resin | Insects are found in it.
pumice | is volcanic rock so full of bubbles that it floats | It is glass frozen from foam.
a rookery | is a colony of breeding birds or seals | The name comes from a kind of crow.
aposematism | warns enemies by bright colours | Poison frogs show it.
Batesian mimicry | is a harmless species looking like a dangerous one | Hoverflies look like wasps.
convergent evolution | makes unrelated species alike | Dolphins and ichthyosaurs show it.
an ecotone | is the border zone between two habitats | It is often rich in species.
estivation | is a sleep through heat and drought | Lungfish and snails do it.
parthenogenesis | is reproduction from unfertilised eggs | Aphids do it in summer.
a moraine | is rubble left by ice | Long Island is partly one.
a katabatic wind | flows down slopes because the air is cold and heavy | It is strong in Antarctica.
loess | is fine dust laid down by wind | It makes fertile soil in China.
karst | is a landscape of dissolved limestone | It has sinkholes and underground rivers.
`,
);

export const tables: readonly Table[] = [animals, plants, young, groups, words];

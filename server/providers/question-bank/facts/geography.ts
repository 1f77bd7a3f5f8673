import { choose, terms, type Table } from "../draft.ts";

const nature: Table = {
  columns: "thing place kind detail",
  rows: `
Mount Kilimanjaro | Tanzania | mountain | It is the highest in Africa.
Mount Fuji | Japan | mountain | It last erupted in 1707.
Uluru | Australia | rock | It is a sandstone monolith sacred to the Anangu.
the Grand Canyon | the United States | gorge | The Colorado River carved it.
the Great Barrier Reef | Australia | reef | It is the largest of its kind.
Mount Vesuvius | Italy | volcano | It looks down on Naples.
Loch Ness | Scotland | lake | It is deep and murky.
the Atacama Desert | Chile | desert | Parts of it hardly ever see rain.
Lake Baikal | Russia | lake | It is the deepest in the world.
Table Mountain | South Africa | mountain | It stands above Cape Town.
Angel Falls | Venezuela | waterfall | They drop nearly a kilometre.
Petra | Jordan | ruined city | It was carved by the Nabataeans.
Machu Picchu | Peru | ruined city | The Incas built it about 1450.
Angkor Wat | Cambodia | temple | It is shown on the national flag.
the Taj Mahal | India | tomb | Shah Jahan built it for his wife.
Chichén Itzá | Mexico | ruined city | Its pyramid has 365 steps by tradition.
the Alhambra | Spain | palace | It stands in Granada.
Neuschwanstein Castle | Germany | castle | Ludwig II had it built.
Stonehenge | England | stone circle | It is about 5,000 years old.
the Acropolis | Greece | citadel | The Parthenon stands on it.
the Blue Mosque | Turkey | mosque | It has six minarets.
the Plitvice Lakes | Croatia | lakes | They are joined by waterfalls.
Borobudur | Indonesia | temple | It is the largest Buddhist one.
Ha Long Bay | Vietnam | bay | Its name means descending dragon.
the Burj Khalifa | the United Arab Emirates | skyscraper | It is 828 metres high.
the Petronas Towers | Malaysia | skyscrapers | A bridge joins them.
Mount Elbrus | Russia | mountain | It is the highest of the Caucasus.
Aconcagua | Argentina | mountain | It is the highest outside Asia.
the Danakil Depression | Ethiopia | lowland | It is one of the hottest places.
the Skeleton Coast | Namibia | coast | Many ships were wrecked there.
the Cliffs of Moher | Ireland | cliffs | They rise over 200 metres.
Bran Castle | Romania | castle | Visitors link it with Dracula.
the Pyramids of Giza | Egypt | pyramids | The largest was built for Khufu.
Sigiriya | Sri Lanka | rock fortress | Lions' paws flank the stairs.
Bagan | Myanmar | temple plain | Over 2,000 temples stand there.
Lalibela | Ethiopia | rock churches | They were hewn downwards out of the ground.
the Registan | Uzbekistan | square | It lies in Samarkand.
Göreme | Turkey | rock dwellings | They lie in Cappadocia.
Meteora | Greece | monasteries | They stand on pillars of rock.
Jökulsárlón | Iceland | glacier lagoon | Icebergs drift in it.
Tongariro | New Zealand | national park | It was the first of the country.
Socotra | Yemen | island | Dragon's blood trees grow there.
`,
  ask: [
    choose("In which country is {thing}?", "place", { hard: 14 }),
    choose("Which of these is in {place}?", "thing", { hard: 18 }),
  ],
  explain: "{Thing} ({kind}) is in {place}. {detail}",
};

const rivers: Table = {
  columns: "river city detail",
  rows: `
the Thames | London | It flows into the North Sea.
the Seine | Paris | It flows into the English Channel.
the Tiber | Rome | It flows into the Tyrrhenian Sea.
the Nile | Cairo | It flows into the Mediterranean Sea.
the Vltava | Prague | It flows into the Elbe.
the Vistula | Warsaw | It flows into the Baltic Sea.
the Spree | Berlin | It flows into the Havel.
the Hudson | New York | It flows into the Atlantic Ocean.
the Potomac | Washington, D.C. | It flows into Chesapeake Bay.
the Moskva | Moscow | It flows into the Oka.
the Tigris | Baghdad | It joins the Euphrates.
the Chao Phraya | Bangkok | It flows into the Gulf of Thailand.
the Neva | Saint Petersburg | It flows out of Lake Ladoga.
the Elbe | Hamburg | It flows into the North Sea.
the Liffey | Dublin | It flows into the Irish Sea.
the Manzanares | Madrid | It flows into the Jarama.
the Tagus | Lisbon | It is the longest of its peninsula.
the Yarra | Melbourne | It flows into Port Phillip.
the Han | Seoul | It flows to the Yellow Sea.
the Arno | Florence | It flows through Pisa too.
the Dnieper | Kyiv | It flows into the Black Sea.
the Isar | Munich | It flows into the Danube.
the Guadalquivir | Seville | Its name is Arabic for great river.
the Garonne | Bordeaux | It opens into the Gironde.
the Limmat | Zürich | It flows out of a lake.
the Daugava | Riga | It flows into the Baltic Sea.
`,
  ask: [
    choose("Which of these rivers flows through {city}?", "river", { hard: 14 }),
    choose("Which of these cities lies on {river}?", "city", { hard: 14 }),
  ],
  explain: "{City} lies on {river}. {detail}",
};

const words = terms(
  {
    which: "In geography, what {clue}?",
    about: "In geography, which of these is true of {term}?",
    explain: "{Term} {clue}. {detail}",
  },
  `
the equator | divides the Earth into a northern and a southern half | It is about 40,075 kilometres long.
a peninsula | is land with water on nearly all sides | The Latin means “almost an island”.
an archipelago | is a group of islands | Indonesia is the largest state of that kind.
a delta | is the fan of land at a river's mouth | It is named after a Greek letter.
an isthmus | is a narrow strip between two bodies of land | The one of Panama joins the Americas.
a strait | is a narrow passage of water between two seas | The one of Gibraltar is an example.
a fjord | is a narrow sea inlet carved by ice | Norway has over a thousand.
Greenland | is the largest island | It belongs to the Danish realm.
the Pacific | is the largest ocean | It is larger than all the land together.
the Sahara | is the largest hot desert | It covers much of North Africa.
the Caspian Sea | is the largest inland body of water | Five states border it.
Mount Everest | is the highest mountain above sea level | It stands between Nepal and China.
the Mariana Trench | is the deepest place of the sea | It is about eleven kilometres deep.
the Andes | are the longest mountain chain on land | They run along South America.
the Danube | flows through more capitals than any other river | There are four of them.
Russia | is the largest country by area | It spans eleven time zones.
Vatican City | is the smallest state | It lies wholly inside Rome.
Bolivia | is a landlocked South American state with a navy on Lake Titicaca | It lost its coast to Chile.
Istanbul | lies on two continents | The Bosporus divides it.
Lesotho | is wholly surrounded by South Africa | It lies over 1,400 metres high.
San Marino | is a small republic inside Italy in the Apennines | It is said to be founded in 301.
Liechtenstein | is landlocked by two landlocked countries | Its neighbours are Switzerland and Austria.
the Prime Meridian | runs through Greenwich | It has been zero longitude since 1884.
the International Date Line | is where the calendar day changes | It bends round island states.
the Tropic of Capricorn | is the southern limit of the overhead Sun | It runs through Brazil.
the Ring of Fire | is the belt of volcanoes round an ocean | Most earthquakes happen in it.
Pangaea | was the single great land of about 250 million years ago | Its name means “all earth”.
the Sargasso Sea | has no land border | It is named after a seaweed.
Surtsey | is an island that rose from the sea in 1963 | It lies off Iceland.
Baarle | is a town cut up by the border of Belgium and the Netherlands | Some houses lie in both states.
Diomede | is the name of two islands a day apart | One is Russian and one American.
Nauru | is an island state without an official capital | It lived on phosphate.
the Darién Gap | breaks the road between North and South America | It is swamp and forest.
the Wallace Line | divides the animals of Asia from those of Australia | It runs between Bali and Lombok.
an endorheic basin | has no outflow to the sea | The Caspian Sea lies in one.
a thalweg | is the line of greatest depth along a river | Borders often follow it.
`,
);

export const tables: readonly Table[] = [nature, rivers, words];

import { order, terms, year, type Table } from "../draft.ts";

const events: Table = {
  columns: "event year detail",
  rows: `
the fall of the Berlin Wall | 1989 | The border opened on the evening of 9 November.
the first crewed Moon landing | 1969 | Neil Armstrong and Buzz Aldrin walked on the surface.
the sinking of the Titanic | 1912 | The ship struck an iceberg on its first voyage.
the storming of the Bastille | 1789 | France celebrates the day on 14 July.
the first voyage of Columbus to the Americas | 1492 | He landed on an island of the Bahamas.
the American Declaration of Independence | 1776 | Thomas Jefferson was its main author.
the outbreak of the First World War | 1914 | It followed the murder of an archduke in Sarajevo.
the German invasion of Poland | 1939 | It began the Second World War in Europe.
the Battle of Hastings | 1066 | William of Normandy became king of England.
the Great Fire of London | 1666 | It began in a bakery in Pudding Lane.
the assassination of John F. Kennedy | 1963 | It happened in Dallas.
the assassination of Abraham Lincoln | 1865 | He was shot in a theatre in Washington.
the Battle of Waterloo | 1815 | Napoleon was beaten for the last time.
the sealing of Magna Carta | 1215 | King John accepted it at Runnymede.
the October Revolution in Russia | 1917 | Lenin's Bolsheviks took power.
the fall of Constantinople to the Ottomans | 1453 | Mehmed II ended the Byzantine Empire.
the posting of Luther's ninety-five theses | 1517 | It is taken as the start of the Reformation.
the launch of Sputnik 1 | 1957 | It was the first artificial satellite.
the independence of India | 1947 | Jawaharlal Nehru became the first prime minister.
the release of Nelson Mandela from prison | 1990 | He had been held for 27 years.
the Chernobyl disaster | 1986 | Reactor four exploded on 26 April.
the Wall Street Crash | 1929 | It led into the Great Depression.
the attack on Pearl Harbor | 1941 | It brought the United States into the Second World War.
the landing in Normandy known as D-Day | 1944 | It took place on 6 June.
the coronation of Charlemagne as emperor | 800 | It took place in Rome on Christmas Day.
the defeat of the Spanish Armada | 1588 | Storms completed what English ships began.
the murder of Julius Caesar | -44 | It happened on the Ides of March.
the first modern Olympic Games | 1896 | They were held in Athens.
the opening of the Suez Canal | 1869 | Ferdinand de Lesseps led the work.
the opening of the Panama Canal | 1914 | A steamship called Ancon made the first official passage.
the eruption of Vesuvius that buried Pompeii | 79 | Pliny the Younger described it.
the Great Exhibition in London | 1851 | It was held in the Crystal Palace.
the Louisiana Purchase | 1803 | It doubled the area of the United States.
the Boston Tea Party | 1773 | Colonists threw 342 chests into the harbour.
the proclamation of the People's Republic of China | 1949 | Mao Zedong announced it in Beijing.
the Cuban Missile Crisis | 1962 | It lasted thirteen days in October.
the Battle of Trafalgar | 1805 | Horatio Nelson was killed in it.
the Battle of Gettysburg | 1863 | It was fought in Pennsylvania over three days.
the Glorious Revolution in England | 1688 | William of Orange replaced James II.
the abolition of slavery in most of the British Empire by act | 1833 | William Wilberforce died days after it had passed the Commons.
the Peace of Westphalia | 1648 | It ended the Thirty Years' War.
the Congress of Vienna's final act | 1815 | Metternich presided over the talks.
the Edict of Milan | 313 | It granted tolerance to Christians.
the Battle of Marathon | -490 | The Athenians beat a Persian army.
the Battle of Cannae | -216 | Hannibal encircled a Roman army.
the death of Alexander the Great | -323 | He died in Babylon.
the Battle of Tours | 732 | Charles Martel led the Franks.
the Golden Bull of Emperor Charles IV | 1356 | It fixed the election of kings by seven electors.
the Union of Lublin | 1569 | It joined Poland and Lithuania in a commonwealth.
the Edict of Nantes | 1598 | Henry IV gave rights to French Protestants.
the Defenestration of Prague that set off a long war | 1618 | Officials were thrown from a castle window.
the Battle of Lepanto | 1571 | A Christian league beat the Ottoman fleet.
the Meiji Restoration | 1868 | Power returned to Japan's emperor.
the Haitian declaration of independence | 1804 | It followed the only successful slave revolt of its kind.
the Peace of Nystad | 1721 | It ended the Great Northern War.
the Battle of Lechfeld | 955 | Otto I beat the Magyars near Augsburg.
the Battle of Manzikert | 1071 | The Seljuks captured a Byzantine emperor.
the Treaty of Tordesillas | 1494 | Spain and Portugal divided the lands to be found.
`,
  ask: [
    year("Which year is the date of {event}?", { hard: 8 }),
    ...order(
      "Which of these came earlier than {event}?",
      "Which of these came later than {event}?",
      "event",
      { hard: 4 },
    ),
  ],
  explain: "The year of {event} is {year}. {detail}",
};

const people = terms(
  {
    which: "Which historical figure {clue}?",
    about: "Which of these is true of {term}?",
    explain: "{Term} {clue}. {detail}",
  },
  `
Cleopatra | was the last active ruler of Ptolemaic Egypt | Her family was of Macedonian descent.
Julius Caesar | crossed the Rubicon with an army in 49 BC | The step began a civil war.
Napoleon Bonaparte | was born on Corsica and crowned himself emperor in 1804 | He died on Saint Helena.
George Washington | was the first president of the United States | He commanded the Continental Army before.
Joan of Arc | led French troops as a girl and was burned in Rouen | She was made a saint in 1920.
Genghis Khan | united the Mongols in 1206 | His name before was Temüjin.
Queen Victoria | reigned in Britain from 1837 to 1901 | She was also Empress of India.
Henry VIII | had six wives and broke with the Pope | Two of the wives were beheaded.
Marco Polo | travelled from Venice to the court of Kublai Khan | He told his story in a Genoese prison.
Vasco da Gama | sailed from Portugal round Africa to India | He arrived in 1498.
Ferdinand Magellan | led the first expedition to sail round the world but died in the Philippines | Juan Sebastián Elcano brought the last ship home.
Mahatma Gandhi | led the Salt March of 1930 | He called his way of resistance satyagraha.
Rosa Parks | refused to give up her seat on a bus in Montgomery | A boycott followed in 1955.
Winston Churchill | was prime minister of Britain from 1940 to 1945 | He later won the Nobel Prize in Literature.
Hannibal | crossed the Alps with elephants against Rome | He came from Carthage.
Catherine the Great | was born a German princess and ruled Russia | She reigned from 1762 to 1796.
Peter the Great | founded a new Russian capital on the Neva | He had worked in Dutch shipyards.
Simón Bolívar | is called the Liberator of much of South America | A country is named after him.
Spartacus | led a slave revolt against Rome from 73 BC | He had been a gladiator.
Otto von Bismarck | was the first chancellor of the German Empire | He was known for “blood and iron”.
Louis XIV | was called the Sun King and enlarged Versailles | He reigned for 72 years.
Marie Antoinette | was an Austrian princess guillotined in Paris in 1793 | She was a daughter of Maria Theresa.
Augustus | was the first Roman emperor | A month is named after him.
Constantine the Great | founded a new capital on the Bosporus | He won at the Milvian Bridge.
Saladin | took Jerusalem from the crusaders in 1187 | He was a Kurd born in Tikrit.
Atahualpa | was the Inca ruler captured by Pizarro | He had a room filled with gold as ransom.
Moctezuma II | was the Aztec ruler when Cortés came | He died in 1520.
Ashoka | ruled the Maurya Empire and turned to Buddhism after a bloody war | His edicts are carved on pillars.
Hatshepsut | ruled Egypt as a woman with the titles of a pharaoh | Her temple stands at Deir el-Bahari.
Hammurabi | gave Babylon a famous code of laws | Its stone stands in the Louvre.
Cyrus the Great | founded the Persian Achaemenid Empire | He let exiled Jews return from Babylon.
Justinian I | had Roman law collected and Hagia Sophia built | His wife was Theodora.
Suleiman the Magnificent | besieged Vienna in 1529 | He was the longest-reigning Ottoman sultan.
Toussaint Louverture | led the revolution of Haiti | He died in a French prison.
Gustavus Adolphus | was a Swedish king who fell at Lützen in 1632 | He had landed in Germany in 1630.
Mansa Musa | was a ruler of Mali famed for his golden pilgrimage to Mecca | He travelled in 1324.
Zheng He | led Chinese treasure fleets as far as East Africa | He made seven voyages from 1405 on.
Tokugawa Ieyasu | founded the last shogunate of Japan | He won at Sekigahara in 1600.
Boudica | led a revolt of Britons against the Romans | She was a queen of the Iceni.
Wu Zetian | was the only woman to rule China as emperor in her own name | She reigned from 690 to 705.
`,
);

const words = terms(
  {
    which: "In history, what {clue}?",
    about: "In history, which of these is true of {term}?",
    explain: "In history, {term} {clue}. {detail}",
    hard: 8,
  },
  `
the Silk Road | was a network of trade routes between China and the Mediterranean | A German geographer coined the name in 1877.
the Renaissance | was the rebirth of ancient learning that began in Italy | The word is French.
the Cold War | was the standoff of the superpowers after 1945 | It ended about 1991.
apartheid | was the policy of racial separation in South Africa | The word is Afrikaans.
feudalism | tied land to service between lords and vassals | The land was called a fief.
the Black Death | was the plague that reached Europe in 1347 | It killed perhaps a third of the people or more.
hieroglyphs | were the picture writing of ancient Egypt | Champollion read them in 1822.
the Rosetta Stone | carries one decree in three scripts | It is in the British Museum.
the Hanseatic League | was a union of trading towns led by Lübeck | It dominated the Baltic Sea.
the Marshall Plan | was American aid to rebuild western Europe | It was announced in 1947.
Prohibition | banned alcohol in the United States from 1920 to 1933 | An amendment brought it and another ended it.
the Enlightenment | was the age of reason of the 18th century | Kant's motto for it was “Dare to know!”.
a samurai | was a warrior of old Japan | The sword katana was the sign of the class.
cuneiform | was wedge-shaped writing on clay | The Sumerians used it first.
the Reconquista | was the Christian conquest of Muslim Spain | It ended in Granada in 1492.
the Domesday Book | was a survey of England ordered by William the Conqueror | It was made in 1086.
the Weimar Republic | was the German state from 1918 to 1933 | It was named after the town of its assembly.
the Long March | was the retreat of Chinese communists in 1934 and 1935 | Mao rose to lead during it.
the Scramble for Africa | was the division of a continent by European powers | A conference in Berlin set rules in 1884 and 1885.
the Dreyfus affair | was a French scandal about a captain wrongly convicted | Zola wrote “J'accuse” about it.
the Thirty Years' War | was ended by the Peace of Westphalia | It devastated central Europe.
the Wars of the Roses | were fought between the houses of York and Lancaster | They ended with the Tudors.
the Punic Wars | were fought between Rome and Carthage | There were three of them.
the Peloponnesian War | was fought between Athens and Sparta | Thucydides wrote its history.
the Taiping Rebellion | was a huge civil war in China led by a man who thought himself Jesus's brother | It lasted from 1850 to 1864.
the Avignon Papacy | was the time when popes lived in southern France | It lasted from 1309 to 1377.
glasnost | was Gorbachev's policy of openness | Its twin was perestroika.
the Zollverein | was the German customs union of 1834 | Prussia led it and Austria stayed out.
the sans-culottes | were radical common people of revolutionary Paris | They wore long trousers.
the Fronde | was a series of revolts in France under the young Louis XIV | It is named after a sling.
`,
);

export const tables: readonly Table[] = [events, people, words];

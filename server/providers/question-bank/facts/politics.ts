import { choose, order, terms, year, type Table } from "../draft.ts";

const bodies: Table = {
  columns: "body year seat what",
  rows: `
the United Nations | 1945 | New York City | works for peace among nearly all states
NATO | 1949 | Brussels | is a military alliance across the North Atlantic
the African Union | 2002 | Addis Ababa | joins the states of Africa
the Arab League | 1945 | Cairo | joins Arab states
the International Monetary Fund | 1944 | Washington, D.C. | lends to states in payment trouble
the World Health Organization | 1948 | Geneva | leads work against diseases
OPEC | 1960 | Vienna | coordinates the policy of oil exporters
UNESCO | 1945 | Paris | keeps the World Heritage List
ASEAN | 1967 | Jakarta | joins states of South-east Asia
the Council of Europe | 1949 | Strasbourg | runs a court of human rights in Strasbourg
the European Central Bank | 1998 | Frankfurt | sets interest rates for the euro
the International Criminal Court | 2002 | The Hague | tries persons for genocide and war crimes
Interpol | 1923 | Lyon | links police forces of the world
the International Atomic Energy Agency | 1957 | Vienna | checks that nuclear material is used peacefully
the OECD | 1961 | Paris | compares the policies of mostly rich states, as in the PISA study
Mercosur | 1991 | Montevideo | is a common market in South America
the Red Cross Committee | 1863 | Geneva | protects victims of war and was founded by Henry Dunant and others
Amnesty International | 1961 | London | campaigns for prisoners of conscience
Greenpeace | 1971 | Amsterdam | campaigns for the environment, first against nuclear tests
Transparency International | 1993 | Berlin | publishes an index of perceived corruption
the Food and Agriculture Organization | 1945 | Rome | leads work against hunger
the Universal Postal Union | 1874 | Bern | makes rules for international mail
the International Maritime Organization | 1948 | London | makes rules for ships
the Nordic Council | 1952 | Copenhagen | joins parliaments of northern Europe
`,
  ask: [
    choose("Which international organisation {what}?", "body", { hard: 4 }),
    choose("In which city is the seat of {body}?", "seat", { hard: 12 }),
    year("In which year was {body} founded or agreed on?", { hard: 26 }),
    ...order(
      "Which of these organisations is older than {body}?",
      "Which of these organisations is younger than {body}?",
      "body",
      { hard: 22 },
    ),
  ],
  explain: "{Body} {what}. The seat is in {seat}; it dates from {year}.",
};

const presidents: Table = {
  columns: "president year number fact",
  rows: `
George Washington | 1789 | 1st | had led the Continental Army
Abraham Lincoln | 1861 | 16th | gave the Gettysburg Address
Barack Obama | 2009 | 44th | was born in Hawaii
John F. Kennedy | 1961 | 35th | set the goal of a Moon landing
Thomas Jefferson | 1801 | 3rd | bought Louisiana from France
Franklin D. Roosevelt | 1933 | 32nd | was elected four times
Bill Clinton | 1993 | 42nd | had been governor of Arkansas
Ronald Reagan | 1981 | 40th | had been a film actor
Richard Nixon | 1969 | 37th | resigned over Watergate
Theodore Roosevelt | 1901 | 26th | had led the Rough Riders
Jimmy Carter | 1977 | 39th | hosted the Camp David talks of Egypt and Israel
Dwight D. Eisenhower | 1953 | 34th | had been supreme commander in Europe
Harry S. Truman | 1945 | 33rd | succeeded when the Second World War was not yet over
Lyndon B. Johnson | 1963 | 36th | signed the Civil Rights Act of 1964
Woodrow Wilson | 1913 | 28th | proposed fourteen points for peace
Ulysses S. Grant | 1869 | 18th | had commanded the Union armies
Andrew Jackson | 1829 | 7th | had won the Battle of New Orleans
James Monroe | 1817 | 5th | gave his name to a doctrine against European interference
James Madison | 1809 | 4th | is called the father of the Constitution
John Adams | 1797 | 2nd | was the first to live in the White House
Gerald Ford | 1974 | 38th | was never elected president or vice president
Herbert Hoover | 1929 | 31st | was in office at the Wall Street Crash
Calvin Coolidge | 1923 | 30th | was nicknamed “Silent Cal”
Andrew Johnson | 1865 | 17th | was the first president to be impeached
William Howard Taft | 1909 | 27th | later became Chief Justice
William McKinley | 1897 | 25th | was shot in Buffalo in 1901
James K. Polk | 1845 | 11th | waged the war with Mexico of 1846
William Henry Harrison | 1841 | 9th | died after a month in office
Rutherford B. Hayes | 1877 | 19th | won a disputed election by one electoral vote
Chester A. Arthur | 1881 | 21st | signed the Pendleton Act on the civil service
`,
  ask: [
    choose("Which president of the United States {fact}?", "president"),
    choose("Which of these is true of the American president {president}?", "fact", { hard: 6 }),
    ...order(
      "Which of these American presidents took office before {president}?",
      "Which of these American presidents took office after {president}?",
      "president",
      { hard: 6 },
    ),
    choose("Which number does {president} have in the line of American presidents?", "number", {
      hard: 24,
    }),
  ],
  explain: "{president}, {number} president of the United States from {year}, {fact}.",
};

const parliaments: Table = {
  columns: "name country detail",
  rows: `
Bundestag | Germany | It meets in the Reichstag building.
Knesset | Israel | It has 120 members.
Duma | Russia | It is the lower house.
Storting | Norway | Its name means “great assembly”.
Riksdag | Sweden | It has had one chamber since 1971.
Folketing | Denmark | It meets in Christiansborg Palace.
Althing | Iceland | It was founded about 930.
Sejm | Poland | It has 460 members.
Cortes Generales | Spain | They consist of a congress and a senate.
Oireachtas | Ireland | Its lower house is called Dáil.
Lok Sabha | India | It is the lower house, the “house of the people”.
Diet | Japan | It has two chambers.
Majlis | Iran | Its name is Arabic for a place of sitting.
Eduskunta | Finland | It has 200 members.
Saeima | Latvia | It has 100 members.
Seimas | Lithuania | It has 141 members.
Riigikogu | Estonia | It has 101 members.
Verkhovna Rada | Ukraine | It has one chamber.
Great Khural | Mongolia | It is called the State Great Khural in full.
Jatiya Sangsad | Bangladesh | It meets in a building by Louis Kahn.
House of Keys | Isle of Man | With its council it forms the Tynwald.
`,
  ask: [
    choose("In which country is the parliament, or a chamber of it, called {name}?", "country", {
      hard: 10,
    }),
    choose(
      "What is the parliament, or a chamber of it, called in this country: {country}?",
      "name",
      { hard: 10 },
    ),
  ],
  explain: "The {name} sits in this country: {country}. {detail}",
};

const words = terms(
  {
    which: "In politics, what {clue}?",
    about: "In politics, which of these is true of {term}?",
    explain: "In politics, {term} {clue}. {detail}",
  },
  `
democracy | means rule by the people | The word comes from Greek “demos” and “kratos”.
monarchy | means rule by a king or queen | The word means “rule of one”.
a republic | has no monarch as head of state | The Latin words mean “public affair”.
a constitution | is the basic law of a state | San Marino's and the American are among the oldest in force.
a veto | forbids a decision | It is Latin for “I forbid”.
a coalition | is a government of several parties | It is common under proportional voting.
a referendum | lets the people vote directly on a question | Switzerland holds several a year.
the opposition | are the parties outside the government | In Britain it has a shadow cabinet.
lobbying | tries to influence lawmakers for an interest | The word recalls the halls where members were met.
oligarchy | means rule by a few | Aristotle saw it as a corrupt form.
theocracy | means rule by priests or in God's name | Iran has strong features of one.
a plutocracy | means rule by the wealthy | The Greek “ploutos” means wealth.
gerrymandering | draws electoral districts to favour a party | It is named after a governor and a salamander.
a filibuster | delays a decision by endless speech | Strom Thurmond spoke for over 24 hours in 1957.
impeachment | is a charge brought by a legislature against an office holder | In the United States the Senate holds the trial.
federalism | divides power between the whole and its states | Germany and Brazil have it.
the separation of powers | splits legislature, executive and judiciary | Montesquieu described it in 1748.
suffrage | is the right to vote | New Zealand gave it to women in 1893.
a by-election | fills a single vacant seat between general votes | The American word is special election.
proportional representation | gives parties seats in the measure of their votes | The D'Hondt method is one way to count.
first past the post | gives a seat to the one with most votes in a district | Britain's House of Commons is elected so.
a caucus | is a meeting of party members to choose or decide | Iowa's was long the first of an election year.
amnesty | is a general pardon | The Greek word means forgetting.
secession | is the withdrawal of a part from a state | Eleven American states tried it in 1860 and 1861.
realpolitik | follows power and circumstances rather than ideals | The word is German.
détente | is the easing of tension between powers | The word is French.
a plebiscite | was in old Rome a resolution of the common people | Today it is another word for a popular vote.
bicameralism | means having two chambers of parliament | The Latin “camera” means room.
a snap election | is called earlier than required | Governments use it when they are popular.
habeas corpus | protects against imprisonment without a court | An English act of 1679 secured it.
subsidiarity | leaves decisions to the lowest able level | It is a principle of the European Union.
a rotten borough | was an English district with hardly any voters | Old Sarum was the best-known.
cohabitation | is a French president with a hostile prime minister | It happened first in 1986.
the Overton window | is the range of ideas the public will accept | It is named after a policy analyst.
the Westminster system | makes the government depend on a majority in parliament | Many former colonies took it over.
consociationalism | shares power among the groups of a divided society | Arend Lijphart described it.
psephology | is the study of elections | The Greek “psephos” was a pebble used for voting.
autarky | is economic self-sufficiency of a state | It rejects foreign trade.
`,
);

export const tables: readonly Table[] = [bodies, presidents, parliaments, words];

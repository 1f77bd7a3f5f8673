import { choose, order, terms, year, type Table } from "../draft.ts";

const shows: Table = {
  columns: "show year character actor setting",
  rows: `
Friends | 1994 | Rachel Green | Jennifer Aniston | six friends in New York City
The Simpsons | 1989 | Homer Simpson | Dan Castellaneta | a family in the town of Springfield
Game of Thrones | 2011 | Tyrion Lannister | Peter Dinklage | noble houses fighting over the Seven Kingdoms
Breaking Bad | 2008 | Walter White | Bryan Cranston | a chemistry teacher in Albuquerque who makes drugs
Stranger Things | 2016 | Eleven | Millie Bobby Brown | children in Hawkins, Indiana
The Office (American version) | 2005 | Michael Scott | Steve Carell | a paper company in Scranton
The Big Bang Theory | 2007 | Sheldon Cooper | Jim Parsons | physicists in Pasadena
Sherlock | 2010 | Sherlock Holmes | Benedict Cumberbatch | a detective in present-day London
Grey's Anatomy | 2005 | Meredith Grey | Ellen Pompeo | surgeons in Seattle
Squid Game | 2021 | Seong Gi-hun | Lee Jung-jae | debtors in South Korea who play deadly children's games
The Crown | 2016 | the young Elizabeth II | Claire Foy | the reign of a British queen
How I Met Your Mother | 2005 | Barney Stinson | Neil Patrick Harris | an architect telling his children a long story
Lost | 2004 | Jack Shephard | Matthew Fox | survivors of a plane crash on an island
House | 2004 | Gregory House | Hugh Laurie | a misanthropic doctor in New Jersey
Seinfeld | 1989 | Cosmo Kramer | Michael Richards | a stand-up comedian and his friends in Manhattan
The X-Files | 1993 | Fox Mulder | David Duchovny | two FBI agents on unexplained cases
Downton Abbey | 2010 | Violet Crawley | Maggie Smith | an aristocratic family in Yorkshire after 1912
The Walking Dead | 2010 | Rick Grimes | Andrew Lincoln | survivors of a zombie apocalypse around Atlanta
The Sopranos | 1999 | Tony Soprano | James Gandolfini | a mob boss in New Jersey who sees a psychiatrist
Buffy the Vampire Slayer | 1997 | Buffy Summers | Sarah Michelle Gellar | a teenager in Sunnydale who hunts the undead
Mad Men | 2007 | Don Draper | Jon Hamm | an advertising agency in New York in the 1960s
Dexter | 2006 | Dexter Morgan | Michael C. Hall | a blood-spatter analyst in Miami who kills killers
Peaky Blinders | 2013 | Tommy Shelby | Cillian Murphy | a gang in Birmingham after the First World War
Fleabag | 2016 | Fleabag | Phoebe Waller-Bridge | a young woman in London who talks to the camera
Ted Lasso | 2020 | Ted Lasso | Jason Sudeikis | an American coach at an English football club
Succession | 2018 | Logan Roy | Brian Cox | the heirs of a media empire
Fawlty Towers | 1975 | Basil Fawlty | John Cleese | a badly run hotel in Torquay
Knight Rider | 1982 | Michael Knight | David Hasselhoff | a crime fighter with a talking car
MacGyver (original series) | 1985 | MacGyver | Richard Dean Anderson | an agent who improvises with everyday objects
Magnum, P.I. (original series) | 1980 | Thomas Magnum | Tom Selleck | a private investigator in Hawaii
Columbo (regular series) | 1971 | Lieutenant Columbo | Peter Falk | a rumpled Los Angeles detective
M*A*S*H | 1972 | Hawkeye Pierce | Alan Alda | an army hospital in the Korean War
Cheers | 1982 | Sam Malone | Ted Danson | a bar in Boston
Twin Peaks | 1990 | Dale Cooper | Kyle MacLachlan | an FBI agent investigating a murder in Washington State
The Wire | 2002 | Jimmy McNulty | Dominic West | police and drug dealers in Baltimore
Deadwood | 2004 | Al Swearengen | Ian McShane | a gold-mining camp in Dakota Territory
Battlestar Galactica (second version) | 2004 | William Adama | Edward James Olmos | a fleet fleeing from the Cylons
Six Feet Under | 2001 | Nate Fisher | Peter Krause | a family of undertakers in Los Angeles
The West Wing | 1999 | Josiah Bartlet | Martin Sheen | the staff of an American president
Severance | 2022 | Mark Scout | Adam Scott | office workers whose work memories are cut off
The Prisoner (original series) | 1967 | Number Six | Patrick McGoohan | a former agent held in a strange village
Star Trek (original series) | 1966 | Spock | Leonard Nimoy | the crew of the starship Enterprise
I Love Lucy | 1951 | Lucy Ricardo | Lucille Ball | the wife of a bandleader who wants to be on stage
The Twilight Zone (original series) | 1959 | the host | Rod Serling | separate strange tales with a twist
`,
  ask: [
    choose("Which actor plays {character} in the television series “{show}”?", "actor"),
    choose("In which television series does {actor} play {character}?", "show"),
    choose("Which television series is about {setting}?", "show", { hard: -4 }),
    choose("What is the television series “{show}” about?", "setting"),
    year("In which year did the television series “{show}” first air?"),
    ...order(
      "Which of these television series started before “{show}”?",
      "Which of these television series started after “{show}”?",
      "show",
    ),
  ],
  explain: "“{show}” started in {year}; it is about {setting}. {actor} plays {character}.",
};

const words = terms(
  {
    which: "In television, what {clue}?",
    about: "In television, which of these is true of {term}?",
    explain: "In television, {term} {clue}. {detail}",
    hard: 4,
  },
  `
a pilot | is the first test episode of a series | Broadcasters decide on a series after seeing it.
a sitcom | is a comedy about the same people in a regular place | The word is short for “situation comedy”.
a spin-off | is a series that grows out of another series | “Frasier” came from “Cheers”.
a cliffhanger | ends an episode at a moment of suspense | “Dallas” used it for “Who shot J.R.?”.
a soap opera | is a long-running daily drama once sponsored by makers of washing powder | The first were on radio in the 1930s.
a teleprompter | lets a presenter read a script while looking at the camera | A half mirror shows the text before the lens.
prime time | means the evening hours with the largest audience | Advertising costs most then.
canned laughter | is recorded merriment added to a comedy | Charley Douglass built the first laugh machine in the 1950s.
a miniseries | tells a complete story in a few planned episodes | “Roots” was a famous one in 1977.
a rerun | is a repeat broadcast of an earlier programme | In Britain it is called a repeat.
the showrunner | has overall creative charge of a series | The person is usually the head writer.
a bottle episode | is made cheaply in few sets with the regular cast | “Fly” of “Breaking Bad” is an example.
a crossover | brings characters of two series together | “The Flash” and “Arrow” did so often.
sweeps | are the months in which American ratings set advertising prices | They fall in February, May, July and November.
a cold open | is a scene before the opening titles | “Saturday Night Live” begins with one.
syndication | sells programmes to many separate stations | A hundred episodes were long the usual aim.
a telenovela | is a Latin American serial with a planned end | It usually runs for some months.
jumping the shark | describes a series past its peak that turns to gimmicks | It recalls a 1977 episode of “Happy Days”.
a chyron | is a caption laid over the lower part of the picture | The name comes from a company that made the devices.
breaking the fourth wall | means that a character speaks to the audience | The phrase comes from the theatre.
a mockumentary | presents invented events in the style of a factual film | “The Office” and “Modern Family” use the form.
an anthology series | has a new story and cast each time | “Black Mirror” is a modern example.
PAL | is the analogue colour system used in most of western Europe | Walter Bruch developed it in Germany.
NTSC | is the analogue colour system that was used in North America | It showed about 30 pictures a second.
`,
);

export const tables: readonly Table[] = [shows, words];

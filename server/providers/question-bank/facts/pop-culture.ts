import { choose, order, terms, year, type Table } from "../draft.ts";

const heroes: Table = {
  columns: "hero name house year",
  rows: `
Superman | Clark Kent | DC Comics | 1938
Batman | Bruce Wayne | DC Comics | 1939
Spider-Man | Peter Parker | Marvel Comics | 1962
Iron Man | Tony Stark | Marvel Comics | 1963
Wonder Woman | Diana Prince | DC Comics | 1941
the Hulk | Bruce Banner | Marvel Comics | 1962
Captain America | Steve Rogers | Marvel Comics | 1941
Black Panther | T'Challa | Marvel Comics | 1966
Black Widow | Natasha Romanoff | Marvel Comics | 1964
Daredevil | Matt Murdock | Marvel Comics | 1964
Catwoman | Selina Kyle | DC Comics | 1940
Aquaman | Arthur Curry | DC Comics | 1941
Green Arrow | Oliver Queen | DC Comics | 1941
Doctor Strange | Stephen Strange | Marvel Comics | 1963
Deadpool | Wade Wilson | Marvel Comics | 1991
Storm | Ororo Munroe | Marvel Comics | 1975
Professor X | Charles Xavier | Marvel Comics | 1963
the Penguin | Oswald Cobblepot | DC Comics | 1941
Two-Face | Harvey Dent | DC Comics | 1942
Hawkeye | Clint Barton | Marvel Comics | 1964
Cyclops | Scott Summers | Marvel Comics | 1963
Poison Ivy | Pamela Isley | DC Comics | 1966
Mr. Freeze | Victor Fries | DC Comics | 1959
Rogue | Anna Marie | Marvel Comics | 1981
Swamp Thing | Alec Holland | DC Comics | 1971
Nightcrawler | Kurt Wagner | Marvel Comics | 1975
the Punisher | Frank Castle | Marvel Comics | 1974
`,
  ask: [
    choose("What is the real name of {hero} in the comics?", "name"),
    choose("Which comic book figure is known in civilian life as {name}?", "hero"),
    ...order(
      "Which of these comic book figures first appeared before {hero}?",
      "Which of these comic book figures first appeared after {hero}?",
      "hero",
      { hard: 16 },
    ),
  ],
  explain: "{Hero} of {house}, whose civilian name is {name}, first appeared in {year}.",
};

const songs: Table = {
  columns: "song artist year",
  rows: `
Gangnam Style | Psy | 2012
Shape of You | Ed Sheeran | 2017
Rolling in the Deep | Adele | 2010
Bohemian Rhapsody | Queen | 1975
Billie Jean | Michael Jackson | 1983
Dancing Queen | ABBA | 1976
Blinding Lights | The Weeknd | 2019
Poker Face | Lady Gaga | 2008
Shake It Off | Taylor Swift | 2014
Uptown Funk | Mark Ronson with Bruno Mars | 2014
Despacito | Luis Fonsi with Daddy Yankee | 2017
Wannabe | Spice Girls | 1996
Smells Like Teen Spirit | Nirvana | 1991
...Baby One More Time | Britney Spears | 1998
Crazy in Love | Beyoncé with Jay-Z | 2003
Umbrella | Rihanna with Jay-Z | 2007
Firework | Katy Perry | 2010
Bad Guy | Billie Eilish | 2019
Drivers License | Olivia Rodrigo | 2021
Levitating | Dua Lipa | 2020
Hips Don't Lie | Shakira with Wyclef Jean | 2006
Viva la Vida | Coldplay | 2008
Get Lucky | Daft Punk with Pharrell Williams | 2013
Royals | Lorde | 2013
Sweet Dreams (Are Made of This) | Eurythmics | 1983
Girls Just Want to Have Fun | Cyndi Lauper | 1983
Livin' on a Prayer | Bon Jovi | 1986
Stayin' Alive | Bee Gees | 1977
Wonderwall | Oasis | 1995
Believe | Cher | 1998
Hey Ya! | Outkast | 2003
Running Up That Hill | Kate Bush | 1985
Space Oddity | David Bowie | 1969
Blue Monday | New Order | 1983
Creep | Radiohead | 1992
Somebody That I Used to Know | Gotye with Kimbra | 2011
Bitter Sweet Symphony | The Verve | 1997
`,
  ask: [
    choose("Which artist had a hit with “{song}”?", "artist", { hard: -2 }),
    choose("Which of these hits is by {artist}?", "song", { hard: 2 }),
    year("In which year was the single “{song}” by {artist} released?"),
    ...order(
      "Which of these songs was released before “{song}” by {artist}?",
      "Which of these songs was released after “{song}” by {artist}?",
      "song",
    ),
  ],
  explain: "“{song}” by {artist} was released in {year}.",
};

const icons = terms(
  {
    which: "In popular culture, who or what {clue}?",
    about: "In popular culture, which of these is true of {term}?",
    explain: "{Term} {clue}. {detail}",
  },
  `
Barbie | is a fashion doll that Mattel has sold since 1959 | Ruth Handler named her after her daughter.
Lego | makes interlocking plastic bricks in Denmark | The name is Danish for “play well”.
Monopoly | is a board game about buying streets and charging rent | It was patented in 1935.
the Rubik's Cube | is a twisting puzzle invented by a Hungarian in 1974 | It has more than 43 quintillion positions.
Pokémon | began as a game about catching monsters in 1996 | The name is short for “pocket monsters”.
Hello Kitty | is a figure by Sanrio with a bow and no drawn mouth | She appeared in 1974.
Snoopy | is the beagle of Charlie Brown | Charles M. Schulz drew “Peanuts” for fifty years.
Garfield | is a lazy orange cat who loves lasagne | Jim Davis has drawn him since 1978.
Tintin | is a young reporter with a white dog | Hergé drew him from 1929 on.
Asterix | is a small Gaul who resists the Romans with a magic potion | He appeared first in 1959.
Tamagotchi | is a virtual pet in an egg-shaped case | Bandai launched it in 1996.
Scrabble | is a board game of letters with point values | Alfred Butts invented it in the 1930s.
Twister | is a party game on a mat with coloured circles | It was launched in 1966.
Furby | is a talking furry robot toy of 1998 | It seemed to learn English.
Play-Doh | is a modelling compound first sold as a wallpaper cleaner | It became a toy in 1956.
the Slinky | is a coiled spring that walks down stairs | A naval engineer hit upon it in 1943.
cosplay | means dressing up as a figure of fiction | The Japanese word joins “costume” and “play”.
a meme | is an idea or picture that spreads by copying on the internet | Richard Dawkins coined the word in 1976.
a selfie | is a photograph of oneself taken at arm's length | A dictionary made it word of the year 2013.
Comic-Con International | is a large fan convention in San Diego | It was first held in 1970.
manga | are comics from Japan | They are read from right to left.
K-pop | is popular music from South Korea | BTS and Blackpink are famous acts.
Bollywood | is the Hindi film industry of Mumbai | Its name recalls the city's former name.
the Oscar | is an award shaped like a knight on a reel of film | Its official name is Academy Award of Merit.
the Grammy | is an award shaped like a gramophone | It honours recorded music.
the Emmy | is an American award for television | The statuette holds an atom.
the Tony | is an American award for theatre on Broadway | It is named after Antoinette Perry.
the Razzie | is a mock award for the worst films | It is handed out around the time of the Academy Awards.
the Met Gala | is a costume benefit in New York held each May | It raises money for a museum.
Coachella | is a music festival in the desert of California | It was first held in 1999.
Eurovision | is a song contest of European broadcasters since 1956 | ABBA won it in 1974.
Glastonbury | is a music festival on a farm in Somerset | It was first held in 1970.
Woodstock | was a festival on a dairy farm in 1969 | About 400,000 people came.
Burning Man | is a gathering in the Nevada desert that burns a wooden figure | It began on a beach in San Francisco.
Banksy | is an anonymous street artist from England | A picture shredded itself at an auction in 2018.
Dolly | was the first mammal cloned from an adult cell | The sheep was named after a country singer.
`,
);

const places: Table = {
  columns: "place world maker",
  rows: `
Hogwarts | Harry Potter | J. K. Rowling
Gotham City | Batman | Bill Finger and Bob Kane
Springfield | The Simpsons | Matt Groening
Mordor | The Lord of the Rings | J. R. R. Tolkien
Tatooine | Star Wars | George Lucas
Narnia | The Chronicles of Narnia | C. S. Lewis
Wakanda | Black Panther | Stan Lee and Jack Kirby
Bikini Bottom | SpongeBob SquarePants | Stephen Hillenburg
Pandora | Avatar | James Cameron
Westeros | A Song of Ice and Fire | George R. R. Martin
Panem | The Hunger Games | Suzanne Collins
Neverland | Peter Pan | J. M. Barrie
Arrakis | Dune | Frank Herbert
Hyrule | The Legend of Zelda | Nintendo
Metropolis | Superman | Jerry Siegel and Joe Shuster
Gilead | The Handmaid's Tale | Margaret Atwood
Duckburg | Donald Duck comics | Carl Barks
Oceania | Nineteen Eighty-Four | George Orwell
Hawkins | Stranger Things | the Duffer Brothers
Ankh-Morpork | Discworld | Terry Pratchett
Lilliput | Gulliver's Travels | Jonathan Swift
Castle Rock | the stories of Stephen King | Stephen King
Rapture | BioShock | Ken Levine
Earthsea | A Wizard of Earthsea | Ursula K. Le Guin
Azeroth | Warcraft | Blizzard Entertainment
Macondo | One Hundred Years of Solitude | Gabriel García Márquez
Sunnydale | Buffy the Vampire Slayer | Joss Whedon
`,
  ask: [
    choose("In which world of fiction does the place {place} lie?", "world", { hard: 2 }),
    choose("Which of these invented places belongs to “{world}”?", "place", { hard: 2 }),
    choose("Who created the world of fiction in which {place} lies?", "maker", { hard: 12 }),
  ],
  explain: "{place} is a place in “{world}”, created by {maker}.",
};

export const tables: readonly Table[] = [heroes, songs, icons, places];

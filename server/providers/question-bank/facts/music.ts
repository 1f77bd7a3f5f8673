import { choose, order, terms, year, type Table } from "../draft.ts";

const albums: Table = {
  columns: "album artist year",
  rows: `
Thriller | Michael Jackson | 1982
Abbey Road | The Beatles | 1969
The Dark Side of the Moon | Pink Floyd | 1973
Back in Black | AC/DC | 1980
Nevermind | Nirvana | 1991
Purple Rain | Prince and the Revolution | 1984
Rumours | Fleetwood Mac | 1977
Born in the U.S.A. | Bruce Springsteen | 1984
The Joshua Tree | U2 | 1987
OK Computer | Radiohead | 1997
Like a Virgin | Madonna | 1984
Hotel California | Eagles | 1976
A Night at the Opera | Queen | 1975
21 | Adele | 2011
1989 | Taylor Swift | 2014
Lemonade | Beyoncé | 2016
American Idiot | Green Day | 2004
Appetite for Destruction | Guns N' Roses | 1987
Jagged Little Pill | Alanis Morissette | 1995
Kind of Blue | Miles Davis | 1959
Pet Sounds | The Beach Boys | 1966
Highway 61 Revisited | Bob Dylan | 1965
Graceland | Paul Simon | 1986
Exodus | Bob Marley and the Wailers | 1977
Tapestry | Carole King | 1971
The Rise and Fall of Ziggy Stardust and the Spiders from Mars | David Bowie | 1972
What's Going On | Marvin Gaye | 1971
Songs in the Key of Life | Stevie Wonder | 1976
Bat Out of Hell | Meat Loaf | 1977
London Calling | The Clash | 1979
Unknown Pleasures | Joy Division | 1979
Horses | Patti Smith | 1975
The Miseducation of Lauryn Hill | Lauryn Hill | 1998
Dummy | Portishead | 1994
Discovery | Daft Punk | 2001
Funeral | Arcade Fire | 2004
Blue | Joni Mitchell | 1971
Astral Weeks | Van Morrison | 1968
A Love Supreme | John Coltrane | 1965
Trans-Europe Express | Kraftwerk | 1977
Blue Lines | Massive Attack | 1991
In the Court of the Crimson King | King Crimson | 1969
Time Out | The Dave Brubeck Quartet | 1959
Marquee Moon | Television | 1977
`,
  ask: [
    choose("Who recorded the album “{album}”?", "artist"),
    choose("Which of these albums is by {artist}?", "album", { hard: 6 }),
    year("In which year was the album “{album}” by {artist} released?"),
    ...order(
      "Which of these albums came out before “{album}” by {artist}?",
      "Which of these albums came out after “{album}” by {artist}?",
      "album",
    ),
  ],
  explain: "“{album}” is an album by {artist} from {year}.",
};

const classical: Table = {
  columns: "work composer form",
  rows: `
The Four Seasons | Antonio Vivaldi | a set of concertos
The Magic Flute | Wolfgang Amadeus Mozart | an opera
Swan Lake | Pyotr Ilyich Tchaikovsky | a ballet
Moonlight Sonata | Ludwig van Beethoven | a piano sonata
The Blue Danube | Johann Strauss II | a waltz
Carmen | Georges Bizet | an opera
Messiah | George Frideric Handel | an oratorio
Brandenburg Concertos | Johann Sebastian Bach | a set of concertos
Peer Gynt | Edvard Grieg | incidental music to a play
The Carnival of the Animals | Camille Saint-Saëns | a suite for two pianos and ensemble
Boléro | Maurice Ravel | a ballet
The Planets | Gustav Holst | an orchestral suite
Aida | Giuseppe Verdi | an opera
Madama Butterfly | Giacomo Puccini | an opera
The Barber of Seville | Gioachino Rossini | an opera
Peter and the Wolf | Sergei Prokofiev | a tale for narrator and orchestra
The Rite of Spring | Igor Stravinsky | a ballet
Rhapsody in Blue | George Gershwin | a piece for piano and jazz band
Scheherazade | Nikolai Rimsky-Korsakov | an orchestral suite
Pictures at an Exhibition | Modest Mussorgsky | a piano suite
Symphony “From the New World” | Antonín Dvořák | a symphony
The Valkyrie | Richard Wagner | an opera
Carmina Burana | Carl Orff | a cantata
Appalachian Spring | Aaron Copland | a ballet
Pomp and Circumstance Marches | Edward Elgar | a set of marches
Finlandia | Jean Sibelius | a tone poem
Gymnopédies | Erik Satie | a set of piano pieces
Clair de lune | Claude Debussy | a movement of a piano suite
Symphonie fantastique | Hector Berlioz | a symphony
Trout Quintet | Franz Schubert | a piano quintet
The Creation | Joseph Haydn | an oratorio
Dido and Aeneas | Henry Purcell | an opera
A German Requiem | Johannes Brahms | a requiem
Má vlast | Bedřich Smetana | a cycle of symphonic poems
Also sprach Zarathustra | Richard Strauss | a tone poem
Adagio for Strings | Samuel Barber | a piece for string orchestra
Peter Grimes | Benjamin Britten | an opera
L'Orfeo | Claudio Monteverdi | an opera
Pierrot Lunaire | Arnold Schoenberg | a song cycle for voice and ensemble
Wozzeck | Alban Berg | an opera
Bluebeard's Castle | Béla Bartók | an opera
Spiegel im Spiegel | Arvo Pärt | a piece for piano and violin
Quartet for the End of Time | Olivier Messiaen | a work for clarinet, violin, cello and piano
Einstein on the Beach | Philip Glass | an opera
`,
  ask: [
    choose("Who composed “{work}”?", "composer", { hard: 4 }),
    choose("Which of these works was composed by {composer}?", "work", { hard: 10 }),
    choose("What kind of work is “{work}” by {composer}?", "form", { hard: 12 }),
  ],
  explain: "“{work}” is {form}. It was written by {composer}.",
};

const instruments = terms(
  {
    which: "Which musical instrument {clue}?",
    about: "Which of these is true of the {term}?",
    explain: "The {term} {clue}. {detail}",
  },
  `
piano | has 88 keys on a standard modern model | Its keys make small hammers strike the strings.
violin | is the smallest and highest member of the standard orchestral string family | Its four strings are tuned in fifths: G, D, A and E.
trumpet | is the highest brass instrument of the orchestra | Most models have three valves.
harp | is played upright with 47 strings and seven pedals in concert form | The pedals raise or lower all strings of one note name.
bagpipes | sound through pipes fed from a squeezed air bag | A drone holds one note below the melody.
tuba | is the lowest brass instrument of the orchestra | It was patented in Berlin in 1835.
sitar | is a long-necked plucked lute of Hindustani music | Sympathetic strings ring along under the played ones.
didgeridoo | is a drone pipe of the Aboriginal peoples of northern Australia | Players use circular breathing to sound it without a break.
oboe | plays the A to which an orchestra tunes | Its sound comes from a double reed.
balalaika | has a triangular body and three strings | It is a folk instrument of Russia.
castanets | are a pair of hand-held wooden shells clicked together | They belong to Spanish dance.
theremin | is played without being touched | Hand movements near two antennas set pitch and volume.
xylophone | has tuned wooden bars struck with mallets | Its name is Greek for “wood sound”.
piccolo | sounds an octave above the ordinary flute | Its name is Italian for “small”.
cello | is held between the knees of a seated player | Its full name is violoncello.
saxophone | is made of brass but counts as a woodwind | Adolphe Sax patented it in 1846.
ukulele | is a four-string plucked instrument that became popular in Hawaii | It comes from small guitars brought by Portuguese settlers.
timpani | are kettle drums that can be tuned to a pitch | A pedal changes the tension of the head.
harpsichord | plucks its strings when a key is pressed | It cannot play louder or softer by touch.
koto | is the 13-string zither of Japan | Movable bridges tune its strings.
erhu | is a two-string fiddle of China | The bow hair runs between the strings.
kora | is a West African harp-lute with 21 strings | Its body is half a large calabash.
celesta | gives the “Dance of the Sugar Plum Fairy” its bell-like sound | Its keys strike steel plates.
shofar | is blown from a ram's horn in Jewish worship | It sounds at Rosh Hashanah.
glockenspiel | has tuned metal bars struck with hard beaters | Its German name means “bell play”.
bassoon | has a double reed and a wooden tube folded back on itself | It opens “The Rite of Spring” in a very high register.
trombone | changes its pitch by a long slide | Its name is Italian for “large trumpet”.
tabla | is a pair of hand drums of North Indian music | The smaller drum is called the dayan.
hurdy-gurdy | sounds its strings by a hand-turned wheel | Keys press against the melody strings.
ocarina | is an egg-shaped vessel flute | Its name is Italian for “little goose”.
`,
);

const words = terms(
  {
    which: "Which musical term {clue}?",
    about: "Which of these is true of the musical term “{term}”?",
    explain: "The term “{term}” {clue}. {detail}",
    hard: 6,
  },
  `
forte | tells players to play loudly | It is Italian for “strong” and is written f.
piano (dynamics) | tells players to play softly | It is Italian for “soft” and is written p.
crescendo | means gradually getting louder | It is drawn as an opening hairpin.
allegro | asks for a fast, lively tempo | The Italian word means cheerful.
adagio | asks for a slow tempo | It is Italian for “at ease”.
a cappella | means singing without instruments | It is Italian for “in the manner of the chapel”.
staccato | means short, detached notes | It is marked by a dot above or below the note.
legato | means smoothly connected notes | It is Italian for “tied together”.
octave | names the interval between a note and the next of the same name | The upper note has twice the frequency.
chord | names several notes sounded together | A triad has three of them.
soprano | names the highest female singing voice | It lies above mezzo-soprano and contralto.
bass | names the lowest male singing voice | It lies below baritone and tenor.
libretto | names the text of an opera | It is Italian for “little book”.
pizzicato | tells string players to pluck | “Arco” tells them to take the bow again.
tremolo | means fast repetition of a note | On strings it is made with quick bow strokes.
fermata | marks a note or rest to be held longer than written | Its sign looks like an eye.
da capo | tells players to repeat from the beginning | It is Italian for “from the head”.
arpeggio | means the notes of a chord played one after another | The word comes from the Italian for harp.
glissando | means a slide through the pitches between two notes | It is easy on a trombone or harp.
cadenza | names a solo passage that shows off the player | It often comes near the end of a concerto movement.
ostinato | names a pattern that is repeated stubbornly | It is Italian for “obstinate”.
syncopation | means stress on normally weak beats | It is at the heart of ragtime and jazz.
rubato | means freely stretching and hurrying the tempo | It is Italian for “stolen time”.
timbre | means the colour of a sound | It lets us tell a flute from a violin on one note.
fugue | names a piece in which voices take up one subject in turn | Bach was its greatest master.
coda | names the closing passage of a piece | It is Italian for “tail”.
leitmotif | names a short theme tied to a person or idea | Wagner's operas are famous for it.
melisma | means singing many notes on a single syllable | Gregorian chant and soul music both use it.
hemiola | means three beats in the time of two | It is Greek for “one and a half”.
tessitura | names the range in which most of a vocal part lies | It is Italian for “texture”.
`,
);

export const tables: readonly Table[] = [albums, classical, instruments, words];

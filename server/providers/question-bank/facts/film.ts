import { choose, order, terms, year, type Table } from "../draft.ts";

const films: Table = {
  columns: "film director year star role",
  rows: `
Jaws | Steven Spielberg | 1975 | Roy Scheider | Martin Brody
Titanic | James Cameron | 1997 | Leonardo DiCaprio | Jack Dawson
Star Wars | George Lucas | 1977 | Harrison Ford | Han Solo
Pulp Fiction | Quentin Tarantino | 1994 | John Travolta | Vincent Vega
Jurassic Park | Steven Spielberg | 1993 | Sam Neill | Alan Grant
The Godfather | Francis Ford Coppola | 1972 | Marlon Brando | Vito Corleone
The Lord of the Rings: The Fellowship of the Ring | Peter Jackson | 2001 | Elijah Wood | Frodo Baggins
Forrest Gump | Robert Zemeckis | 1994 | Tom Hanks | Forrest Gump
Gladiator | Ridley Scott | 2000 | Russell Crowe | Maximus
Psycho | Alfred Hitchcock | 1960 | Anthony Perkins | Norman Bates
Inception | Christopher Nolan | 2010 | Leonardo DiCaprio | Dom Cobb
The Terminator | James Cameron | 1984 | Linda Hamilton | Sarah Connor
The Silence of the Lambs | Jonathan Demme | 1991 | Jodie Foster | Clarice Starling
Alien | Ridley Scott | 1979 | Sigourney Weaver | Ellen Ripley
Back to the Future | Robert Zemeckis | 1985 | Michael J. Fox | Marty McFly
Casablanca | Michael Curtiz | 1942 | Humphrey Bogart | Rick Blaine
The Shawshank Redemption | Frank Darabont | 1994 | Tim Robbins | Andy Dufresne
2001: A Space Odyssey | Stanley Kubrick | 1968 | Keir Dullea | Dave Bowman
Citizen Kane | Orson Welles | 1941 | Orson Welles | Charles Foster Kane
Taxi Driver | Martin Scorsese | 1976 | Robert De Niro | Travis Bickle
Fight Club | David Fincher | 1999 | Brad Pitt | Tyler Durden
Blade Runner | Ridley Scott | 1982 | Harrison Ford | Rick Deckard
Amélie | Jean-Pierre Jeunet | 2001 | Audrey Tautou | Amélie Poulain
Parasite | Bong Joon-ho | 2019 | Song Kang-ho | Kim Ki-taek
The Sixth Sense | M. Night Shyamalan | 1999 | Bruce Willis | Malcolm Crowe
Beetlejuice | Tim Burton | 1988 | Michael Keaton | Betelgeuse
Lawrence of Arabia | David Lean | 1962 | Peter O'Toole | T. E. Lawrence
Chinatown | Roman Polanski | 1974 | Jack Nicholson | Jake Gittes
One Flew Over the Cuckoo's Nest | Miloš Forman | 1975 | Jack Nicholson | Randle McMurphy
Rocky | John G. Avildsen | 1976 | Sylvester Stallone | Rocky Balboa
Die Hard | John McTiernan | 1988 | Bruce Willis | John McClane
Pan's Labyrinth | Guillermo del Toro | 2006 | Ivana Baquero | Ofelia
Lost in Translation | Sofia Coppola | 2003 | Bill Murray | Bob Harris
Some Like It Hot | Billy Wilder | 1959 | Marilyn Monroe | Sugar Kane
The Graduate | Mike Nichols | 1967 | Dustin Hoffman | Benjamin Braddock
La La Land | Damien Chazelle | 2016 | Emma Stone | Mia Dolan
The Piano | Jane Campion | 1993 | Holly Hunter | Ada McGrath
Mulholland Drive | David Lynch | 2001 | Naomi Watts | Betty Elms
Annie Hall | Woody Allen | 1977 | Diane Keaton | Annie Hall
High Noon | Fred Zinnemann | 1952 | Gary Cooper | Will Kane
The Third Man | Carol Reed | 1949 | Joseph Cotten | Holly Martins
La Dolce Vita | Federico Fellini | 1960 | Marcello Mastroianni | Marcello Rubini
Metropolis | Fritz Lang | 1927 | Brigitte Helm | Maria
The Seventh Seal | Ingmar Bergman | 1957 | Max von Sydow | Antonius Block
Breathless | Jean-Luc Godard | 1960 | Jean-Paul Belmondo | Michel Poiccard
The 400 Blows | François Truffaut | 1959 | Jean-Pierre Léaud | Antoine Doinel
Wings of Desire | Wim Wenders | 1987 | Bruno Ganz | Damiel
Nosferatu | F. W. Murnau | 1922 | Max Schreck | Count Orlok
Fitzcarraldo | Werner Herzog | 1982 | Klaus Kinski | Brian Sweeney Fitzgerald
`,
  ask: [
    choose("Who directed “{film}” ({year})?", "director"),
    choose("Which of these films was directed by {director}?", "film", { hard: 4 }),
    year("In which year did the film “{film}” first come to cinemas?"),
    ...order(
      "Which of these films came out before “{film}”?",
      "Which of these films came out after “{film}”?",
      "film",
    ),
    choose("In which film does {star} play {role}?", "film", { hard: 6 }),
    choose("Which actor plays {role} in “{film}”?", "star", { hard: 8 }),
  ],
  explain: "“{film}” ({year}) was directed by {director}; {star} plays {role}.",
};

const animated: Table = {
  columns: "film studio year story",
  rows: `
Toy Story | Pixar | 1995 | toys that come alive when nobody looks
Finding Nemo | Pixar | 2003 | a clownfish father who searches for his son
Shrek | DreamWorks Animation | 2001 | an ogre who fetches a princess for a lord
Frozen | Walt Disney Animation Studios | 2013 | two royal sisters, one of whom commands ice
Ratatouille | Pixar | 2007 | a rat who cooks in a Paris restaurant
The Incredibles | Pixar | 2004 | a family of retired superheroes
Kung Fu Panda | DreamWorks Animation | 2008 | a panda chosen as the Dragon Warrior
Spirited Away | Studio Ghibli | 2001 | a girl who works in a bathhouse of spirits
My Neighbor Totoro | Studio Ghibli | 1988 | two sisters who meet a forest spirit
Ice Age | Blue Sky Studios | 2002 | a mammoth, a sloth and a sabre-tooth who return a baby
Despicable Me | Illumination | 2010 | a villain who adopts three girls and steals the Moon
Inside Out | Pixar | 2015 | the emotions in the mind of a girl
Up | Pixar | 2009 | a widower who flies his house with balloons
Coraline | Laika | 2009 | a girl who finds another mother behind a door
Princess Mononoke | Studio Ghibli | 1997 | a war between an iron town and forest gods
Chicken Run | Aardman Animations | 2000 | hens who plan to escape from a farm
Kubo and the Two Strings | Laika | 2016 | a boy with one eye and a magic shamisen
Wolfwalkers | Cartoon Saloon | 2020 | an English girl in Ireland who befriends a girl that becomes a wolf
Song of the Sea | Cartoon Saloon | 2014 | a boy whose little sister is a selkie
The Secret Life of Pets | Illumination | 2016 | what dogs and cats do while their owners are out
How to Train Your Dragon | DreamWorks Animation | 2010 | a Viking boy who befriends a Night Fury
Moana | Walt Disney Animation Studios | 2016 | a Pacific islander who sails to return a goddess's heart
WALL-E | Pixar | 2008 | a robot left to clean up the Earth
Rio | Blue Sky Studios | 2011 | a blue macaw from Minnesota taken to Brazil
`,
  ask: [
    choose("Which studio made the animated film “{film}”?", "studio", { hard: 4 }),
    choose("Which animated film tells of {story}?", "film"),
    choose("What does the animated film “{film}” tell of?", "story", { hard: 4 }),
  ],
  explain: "“{film}” ({year}) by {studio} tells of {story}.",
};

const craft = terms(
  {
    which: "In film making, who or what {clue}?",
    about: "In film making, which of these is true of {term}?",
    explain: "In film making, {term} {clue}. {detail}",
    hard: 10,
  },
  `
a stunt double | stands in for an actor in dangerous scenes | The actor's face is usually hidden or replaced.
a clapperboard | is snapped at the start of a take to match picture and sound | It also shows the scene and take number.
a storyboard | shows a scene in drawings before it is shot | Walt Disney's studio developed it in the 1930s.
a close-up | fills the frame with a face or a detail | It brings the audience near to a character's feelings.
a green screen | lets another background be put behind the actors | The technique is called chroma keying.
a soundtrack | holds the music and recorded sound of a film | It was once printed beside the pictures on the film strip.
a cameo | is a brief appearance of a well-known person | Alfred Hitchcock made one in most of his films.
a sequel | continues the story of an earlier film | A film set before the earlier one is a prequel.
dubbing | replaces the spoken language of the actors | The alternative is subtitles.
a dolly | is a wheeled platform that moves the camera | It often runs on rails.
the gaffer | is the chief electrician on a set | The assistant of this person is called the best boy.
a Foley artist | makes everyday sounds such as footsteps in a studio | The craft is named after Jack Foley.
a jump cut | leaves out a piece of continuous action with a visible jolt | “Breathless” made it famous.
a MacGuffin | is an object that drives the plot but matters little itself | Alfred Hitchcock popularised the word.
a flashback | shows events from before the present of the story | “Citizen Kane” is largely told this way.
a fade-out | lets the picture turn slowly to black | It often marks the passing of time.
a montage | joins short shots to condense time or create meaning | Sergei Eisenstein wrote its theory.
a pan | turns the camera sideways on a fixed point | Turning it up or down is a tilt.
an establishing shot | shows where the following scene takes place | It is often a wide view of a building or city.
a spaghetti Western | is a Western made by Italians in the 1960s and 1970s | Sergio Leone's films are the best known.
film noir | is a dark style of American crime films of the 1940s and 1950s | The name is French for “black film”.
rotoscoping | traces live-action footage frame by frame | Max Fleischer patented it in 1917.
a dolly zoom | moves the camera while zooming the other way | It was made famous by “Vertigo”.
mise-en-scène | covers everything placed before the camera | The French term comes from the theatre.
diegetic sound | comes from the world of the story itself | A radio heard by the characters is an example.
a Dutch angle | tilts the camera so that the horizon is slanted | It suggests unease; “The Third Man” is full of it.
`,
);

export const tables: readonly Table[] = [films, animated, craft];

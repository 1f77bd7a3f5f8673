import { choose, order, terms, year, type Table } from "../draft.ts";

const games: Table = {
  columns: "game studio year hero",
  rows: `
Minecraft | Mojang | 2011 | Steve
Super Mario Bros. | Nintendo | 1985 | Mario
Tetris (Game Boy version) | Nintendo | 1989 | falling blocks of four squares
Pac-Man | Namco | 1980 | Pac-Man
The Legend of Zelda: Breath of the Wild | Nintendo | 2017 | Link
Sonic the Hedgehog | Sega | 1991 | Sonic
Tomb Raider (the first) | Core Design | 1996 | Lara Croft
Angry Birds | Rovio | 2009 | Red
The Sims | Maxis | 2000 | a household
Fortnite Battle Royale | Epic Games | 2017 | Jonesy
Grand Theft Auto V | Rockstar Games | 2013 | Michael, Franklin and Trevor
The Witcher 3: Wild Hunt | CD Projekt Red | 2015 | Geralt of Rivia
Portal | Valve | 2007 | Chell
Halo: Combat Evolved | Bungie | 2001 | Master Chief
Final Fantasy VII | Square | 1997 | Cloud Strife
World of Warcraft | Blizzard Entertainment | 2004 | heroes of Azeroth
Street Fighter II | Capcom | 1991 | Ryu
Metal Gear Solid | Konami | 1998 | Solid Snake
Uncharted: Drake's Fortune | Naughty Dog | 2007 | Nathan Drake
The Elder Scrolls V: Skyrim | Bethesda Game Studios | 2011 | the Dragonborn
Assassin's Creed | Ubisoft | 2007 | Altaïr
Red Dead Redemption 2 | Rockstar Games | 2018 | Arthur Morgan
Half-Life | Valve | 1998 | Gordon Freeman
Doom | id Software | 1993 | a space marine
Resident Evil | Capcom | 1996 | Chris Redfield and Jill Valentine
Stardew Valley | ConcernedApe | 2016 | a farmer
Elden Ring | FromSoftware | 2022 | the Tarnished
God of War Ragnarök | Santa Monica Studio | 2022 | Kratos
BioShock | Irrational Games | 2007 | Jack
Mass Effect | BioWare | 2007 | Commander Shepard
Diablo | Blizzard Entertainment | 1997 | heroes of Tristram
Hollow Knight | Team Cherry | 2017 | the Knight
Undertale | Toby Fox | 2015 | Frisk
Celeste | Maddy Makes Games | 2018 | Madeline
Horizon Zero Dawn | Guerrilla Games | 2017 | Aloy
Disco Elysium | ZA/UM | 2019 | an amnesiac detective
Hades | Supergiant Games | 2020 | Zagreus
Journey | Thatgamecompany | 2012 | a robed traveller
The Secret of Monkey Island | Lucasfilm Games | 1990 | Guybrush Threepwood
Myst | Cyan | 1993 | the Stranger
Prince of Persia (the first) | Broderbund | 1989 | the Prince
Space Invaders | Taito | 1978 | a laser cannon
Pong | Atari | 1972 | two paddles
Deus Ex | Ion Storm | 2000 | JC Denton
Planescape: Torment | Black Isle Studios | 1999 | the Nameless One
Elite | David Braben and Ian Bell | 1984 | a trader in space
Zork I | Infocom | 1980 | an adventurer
`,
  ask: [
    choose("Which company or studio is behind the video game “{game}”?", "studio"),
    choose("Which of these video games came from {studio}?", "game", { hard: 4 }),
    choose("In which of these video games do you play {hero}?", "game", { hard: 2 }),
    choose("Whom or what do you play in the video game “{game}”?", "hero", { hard: 4 }),
    year("In which year did the video game “{game}” come out?"),
    ...order(
      "Which of these video games came out before “{game}”?",
      "Which of these video games came out after “{game}”?",
      "game",
    ),
  ],
  explain: "“{game}” came out in {year} from {studio}; in it you play {hero}.",
};

const consoles: Table = {
  columns: "console maker year fact",
  rows: `
PlayStation 2 | Sony | 2000 | it is the best-selling home console so far
Game Boy | Nintendo | 1989 | it ran for many hours on four AA batteries
Wii | Nintendo | 2006 | a sports game for its motion remote was sold with it in most countries
Xbox 360 | Microsoft | 2005 | three red lights on it warned of a failure
Nintendo Switch | Nintendo | 2017 | its detachable controllers are called Joy-Con
Nintendo 64 | Nintendo | 1996 | it popularised the analogue stick
PlayStation | Sony | 1994 | it began as a plan for a disc drive for the Super Nintendo
Dreamcast | Sega | 1998 | it had a built-in modem
Mega Drive | Sega | 1988 | it was called Genesis in North America
Atari 2600 | Atari | 1977 | it was first sold as the Video Computer System
Nintendo DS | Nintendo | 2004 | it has two screens, one of them for touch
PlayStation Portable | Sony | 2004 | it used small discs called UMD
Sega Saturn | Sega | 1994 | it is driven by two Hitachi SH-2 processors
Steam Deck | Valve | 2022 | it runs a Linux-based system
Odyssey | Magnavox | 1972 | it was the first home console
ColecoVision | Coleco | 1982 | it was sold with Donkey Kong
Neo Geo AES | SNK | 1990 | it was nearly the same as the arcade machine
Virtual Boy | Nintendo | 1995 | it showed pictures in red and black only
Atari Lynx | Atari | 1989 | it was an early hand-held with a colour screen
`,
  ask: [
    choose("Which company made the {console}?", "maker", { hard: 4 }),
    choose("Of which game console is this true: {fact}?", "console", { hard: 12 }),
    choose("Which of these is true of the {console}?", "fact", { hard: 12 }),
    year("In which year was the {console} first sold?", { hard: 26 }),
  ],
  explain: "The {console} by {maker} was first sold in {year}; {fact}.",
};

const words = terms(
  {
    which: "In video games, what {clue}?",
    about: "In video games, which of these is true of {term}?",
    explain: "In video games, {term} {clue}. {detail}",
  },
  `
a boss | is an especially strong enemy at the end of a section | The last one of a game is called the final boss.
an NPC | is a figure that no player controls | The letters stand for “non-player character”.
a checkpoint | is a place from which you go on after failing | Older games sent you back to the start.
a power-up | gives a figure a helpful ability for some time | The pellets of Pac-Man were an early one.
an Easter egg | is a hidden joke or message | One in “Adventure” of 1980 named its programmer.
a first-person shooter | shows the world through the eyes of an armed figure | “Doom” made the form famous.
a side-scroller | shows the action from the flank while the screen moves along | “Super Mario Bros.” is the classic one.
a speedrun | is an attempt to finish as fast as possible | Charity events show them live.
DLC | is extra content that is fetched after buying the game | The letters stand for “downloadable content”.
an MMORPG | lets thousands of people play roles in one lasting world | “Ultima Online” and “EverQuest” were early ones.
lag | is a delay between an action and its effect | A slow network connection often causes it.
a mod | is a change to a game made by its players | “Counter-Strike” began as one.
a sandbox game | gives freedom to explore and build without a fixed goal | “Minecraft” is a famous one.
permadeath | means that a dead figure is lost for good | It is typical of roguelikes.
a roguelike | has generated dungeons and starts anew after each defeat | The name comes from a game of 1980.
a Metroidvania | opens its map bit by bit with newly found abilities | The name joins two game series.
tower defence | is about placing buildings that stop waves of attackers | The genre grew from maps for strategy games.
grinding | means repeating a task to gain experience or items | It is common in role-playing games.
a hitbox | is the invisible shape that decides whether a blow lands | It is often simpler than the visible figure.
a cutscene | tells the story while the player only watches | “Pac-Man” had very early ones.
cel shading | makes a three-dimensional picture look like a cartoon | “Jet Set Radio” made it known in 2000.
procedural generation | builds worlds by rules instead of by hand | “Elite” made eight galaxies that way.
fog of war | hides parts of the map not yet scouted | It is typical of strategy games.
kiting | means fighting while keeping an enemy at a distance | The enemy follows like a toy on a string.
an invincibility frame | is a moment after a hit in which nothing can hurt you | It prevents a chain of hits.
rollback netcode | guesses the other player's input and corrects it later | Fighting games use it to hide delay.
`,
);

export const tables: readonly Table[] = [games, consoles, words];

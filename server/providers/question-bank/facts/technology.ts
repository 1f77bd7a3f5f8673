import { choose, order, terms, year, type Table } from "../draft.ts";

const inventions: Table = {
  columns: "thing maker year detail",
  rows: `
the iPhone | Apple | 2007 | Steve Jobs showed it in San Francisco.
the World Wide Web | Tim Berners-Lee | 1989 | He proposed it at CERN.
the telephone (American patent) | Alexander Graham Bell | 1876 | The patent was filed hours before a rival's caveat.
the phonograph | Thomas Edison | 1877 | It recorded on tinfoil.
the Model T | Ford | 1908 | Fifteen million were built.
dynamite | Alfred Nobel | 1867 | It made nitroglycerine safer to handle.
the powered aeroplane flight at Kitty Hawk | the Wright brothers | 1903 | The first flight lasted twelve seconds.
the discovery of penicillin | Alexander Fleming | 1928 | A mould had spoiled a culture.
X-rays | Wilhelm Röntgen | 1895 | He won the first Nobel Prize in Physics.
the Macintosh computer | Apple | 1984 | It brought the mouse to many homes.
the Walkman | Sony | 1979 | It played compact cassettes.
Wikipedia | Jimmy Wales and Larry Sanger | 2001 | It grew out of a project called Nupedia.
YouTube | Steve Chen, Chad Hurley and Jawed Karim | 2005 | The first video shows elephants at a zoo.
Facebook | Mark Zuckerberg and fellow students | 2004 | It began at Harvard.
Twitter | Jack Dorsey and colleagues | 2006 | Messages had at most 140 characters.
Google | Larry Page and Sergey Brin | 1998 | Its ranking of pages is called PageRank.
Windows 95 | Microsoft | 1995 | It brought the Start button.
the Linux kernel | Linus Torvalds | 1991 | He was a student in Helsinki.
Python | Guido van Rossum | 1991 | It is named after a comedy troupe.
Java | James Gosling | 1995 | It was first called Oak.
JavaScript | Brendan Eich | 1995 | The first version took about ten days.
the language C++ | Bjarne Stroustrup | 1985 | It began as “C with Classes”.
the C language | Dennis Ritchie | 1972 | It was made for writing Unix.
Git | Linus Torvalds | 2005 | It manages versions of source code.
the white paper on Bitcoin | Satoshi Nakamoto | 2008 | The author's identity is unknown.
the steam engine with separate condenser (patent) | James Watt | 1769 | It saved much coal.
the cotton gin | Eli Whitney | 1793 | It removes seeds from fibres.
the telegraph message “What hath God wrought” | Samuel Morse | 1844 | It went from Washington to Baltimore.
the safety razor with disposable blades (patent) | King C. Gillette | 1904 | Blades had been sharpened by hand before.
the ballpoint pen (patent) | László Bíró | 1938 | It was made for ink that dries fast.
the Patent-Motorwagen | Carl Benz | 1886 | It is seen as the first practical motor car.
the lightning rod | Benjamin Franklin | 1752 | He had flown a kite in a storm.
the hot-air balloon with people on board | the Montgolfier brothers | 1783 | It rose over Paris.
the electric battery (pile) | Alessandro Volta | 1800 | It was a stack of zinc and silver discs.
the temperature scale with water freezing at 32 | Daniel Fahrenheit | 1724 | The scale is still used in the United States.
the Difference Engine proposal | Charles Babbage | 1822 | It was meant to compute tables.
the Z3 computer | Konrad Zuse | 1941 | It worked with relays.
the transistor | Bardeen, Brattain and Shockley | 1947 | It was made at Bell Labs.
the first integrated circuit | Jack Kilby | 1958 | He worked for Texas Instruments.
the first microwave oven for sale | Raytheon | 1947 | It was as tall as a person.
velcro (patent) | George de Mestral | 1955 | Burrs on his dog gave him the idea.
the compact disc | Philips and Sony | 1982 | The first players were sold in Japan.
the microprocessor 4004 | Intel | 1971 | It had about 2,300 transistors.
email with the @ sign | Ray Tomlinson | 1971 | He worked on ARPANET.
the mouse (public demonstration) | Douglas Engelbart | 1968 | The show is called the “mother of all demos”.
the language FLOW-MATIC | Grace Hopper | 1955 | It used English words.
Fortran | John Backus | 1957 | Its name means formula translation.
Lisp | John McCarthy | 1958 | Its code is made of lists.
Ethernet | Robert Metcalfe | 1973 | It was made at Xerox PARC.
RSA encryption | Rivest, Shamir and Adleman | 1977 | It rests on the difficulty of factoring.
`,
  ask: [
    choose("Whose name, or which company's, stands behind {thing}?", "maker", { hard: 2 }),
    choose("Which of these goes back to {maker}?", "thing", { hard: 4 }),
    year("Which year is given for {thing}?", { hard: 24 }),
    ...order(
      "Which of these is older than {thing}?",
      "Which of these is younger than {thing}?",
      "thing",
      { hard: 8 },
    ),
  ],
  explain: "The name to know for {thing} is {maker}, and the year is {year}. {detail}",
};

const acronyms: Table = {
  columns: "short long detail",
  rows: `
WWW | World Wide Web | It was invented at CERN.
CPU | central processing unit | It carries out a computer's instructions.
USB | universal serial bus | It replaced many older connectors.
PDF | portable document format | Adobe introduced it in 1993.
RAM | random-access memory | It loses its contents without power.
HTML | hypertext markup language | Web pages are written in it.
GPS | global positioning system | It needs signals of at least four satellites.
LED | light-emitting diode | The blue kind earned a Nobel Prize in 2014.
URL | uniform resource locator | It gives the address of a web page.
WLAN | wireless local area network | It follows the standards IEEE 802.11.
SMS | short message service | A text has at most 160 characters.
GPU | graphics processing unit | It computes many things in parallel.
VPN | virtual private network | It carries data through an encrypted tunnel.
HTTP | hypertext transfer protocol | An added S stands for secure.
SQL | structured query language | It is used for databases.
API | application programming interface | Programs talk to each other through it.
BIOS | basic input/output system | It starts a computer.
DNS | domain name system | It turns names into numeric addresses.
JPEG | Joint Photographic Experts Group | It compresses pictures with loss.
RFID | radio-frequency identification | It is used in tags and passports.
LAN | local area network | Ethernet is its usual technology.
OCR | optical character recognition | It turns pictures of text into text.
ASCII | American Standard Code for Information Interchange | It has 128 codes.
CAPTCHA | completely automated public Turing test to tell computers and humans apart | It was named in 2003.
RAID | redundant array of independent disks | It guards against a failed drive.
CMOS | complementary metal-oxide semiconductor | Most chips are made in it.
FPGA | field-programmable gate array | Its circuits can be changed after making.
SCSI | small computer system interface | It connected drives in parallel.
TCP | transmission control protocol | It delivers data in order and complete.
LIDAR | light detection and ranging | It measures distances with a laser.
MIDI | musical instrument digital interface | It was agreed on in 1983.
OLED | organic light-emitting diode | Its screens need no backlight.
CRISPR | clustered regularly interspaced short palindromic repeats | It led to a tool for editing genes.
`,
  ask: [
    choose("What does the abbreviation {short} stand for?", "long", { hard: -2 }),
    choose("What is the abbreviation of “{long}”?", "short", { hard: -2 }),
  ],
  explain: "{short} stands for “{long}”. {detail}",
};

const words = terms(
  {
    which: "In technology, what {clue}?",
    about: "In technology, which of these is true of {term}?",
    explain: "In technology, {term} {clue}. {detail}",
  },
  `
a byte | is a group of eight bits | It can hold 256 values.
a browser | shows web pages | Mosaic made the kind popular in 1993.
a firewall | filters traffic between networks | It is named after walls that hold back flames.
phishing | tricks people into giving away passwords | The word alludes to fishing.
a cookie | is a small piece of data a website keeps with the visitor | Lou Montulli invented it in 1994.
a bug | is a fault in a program | A moth was once taped into a log book.
open source | is software whose code may be read and changed by all | Linux is an example.
the cloud | is computing on rented machines far away | It is billed by use.
encryption | makes data unreadable without a key | Caesar used a simple form.
malware | is software made to do harm | Viruses and worms belong to it.
an algorithm | is a step-by-step procedure | It is named after al-Khwarizmi.
a pixel | is the smallest element of a digital picture | The word joins “picture” and “element”.
machine learning | finds patterns in data instead of following fixed rules | Arthur Samuel coined the term in 1959.
a blockchain | is a list of records linked by hashes | Bitcoin made it known.
a compiler | translates source code into machine code | An interpreter runs it directly instead.
latency | is the delay before data begins to arrive | It is measured in milliseconds.
bandwidth | is the amount of data carried in a time | It is measured in bits per second.
a cache | keeps copies of data for fast use | The word is French for a hiding place.
Moore's law | says that transistors on a chip double about every two years | It was stated in 1965.
the Turing test | asks whether a machine can pass for a human in talk | It was proposed in 1950.
a deadlock | leaves processes waiting for each other for ever | The dining philosophers illustrate it.
recursion | is a procedure that calls itself | It needs a case that ends it.
a semaphore | limits how many processes may use a thing at once | Dijkstra introduced it.
a hash function | maps data of any size to a fixed size | SHA-256 is one.
big-endian order | stores the most significant byte first | Its name comes from “Gulliver's Travels”.
a zero-day | is a hole unknown to the maker of the software | Defenders have had no time to mend it.
public-key cryptography | uses one key to lock and another to unlock | Diffie and Hellman published it in 1976.
photolithography | draws chip patterns with light through masks | Extreme ultraviolet is used for the finest.

the CAP theorem | says that under partition a store is consistent or available | Eric Brewer conjectured it.
Amdahl's law | limits the speed-up by the part that stays serial | It was stated in 1967.
a Bloom filter | tells surely when an item is absent but not when present | It is named after its inventor of 1970.
a lithium-ion battery | moves ions between graphite and a metal oxide | It earned a Nobel Prize in 2019.
a heat pump | moves warmth from a colder to a warmer place | A refrigerator is one too.
`,
);

export const tables: readonly Table[] = [inventions, acronyms, words];

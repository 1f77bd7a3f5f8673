import { choose, order, terms, year, type Table } from "../draft.ts";

const books: Table = {
  columns: "book author year figure",
  rows: `
Harry Potter and the Philosopher's Stone | J. K. Rowling | 1997 | Hermione Granger
The Hobbit | J. R. R. Tolkien | 1937 | Bilbo Baggins
Pride and Prejudice | Jane Austen | 1813 | Mr Darcy
Alice's Adventures in Wonderland | Lewis Carroll | 1865 | the Cheshire Cat
Frankenstein | Mary Shelley | 1818 | Victor Frankenstein
Oliver Twist | Charles Dickens | 1838 | Fagin
Treasure Island | Robert Louis Stevenson | 1883 | Long John Silver
Dracula | Bram Stoker | 1897 | Jonathan Harker
The Little Prince | Antoine de Saint-Exupéry | 1943 | a pilot in the desert
To Kill a Mockingbird | Harper Lee | 1960 | Atticus Finch
The Great Gatsby | F. Scott Fitzgerald | 1925 | Nick Carraway
Animal Farm | George Orwell | 1945 | a boar called Napoleon
Moby-Dick | Herman Melville | 1851 | Captain Ahab
Charlie and the Chocolate Factory | Roald Dahl | 1964 | Willy Wonka
Twenty Thousand Leagues Under the Seas | Jules Verne | 1870 | Captain Nemo
Jane Eyre | Charlotte Brontë | 1847 | Mr Rochester
Wuthering Heights | Emily Brontë | 1847 | Heathcliff
The Adventures of Tom Sawyer | Mark Twain | 1876 | Becky Thatcher
Robinson Crusoe | Daniel Defoe | 1719 | Friday
Gulliver's Travels | Jonathan Swift | 1726 | the Houyhnhnms
The Picture of Dorian Gray | Oscar Wilde | 1891 | Lord Henry Wotton
The Time Machine | H. G. Wells | 1895 | the Morlocks
The Catcher in the Rye | J. D. Salinger | 1951 | Holden Caulfield
Lord of the Flies | William Golding | 1954 | Piggy
Brave New World | Aldous Huxley | 1932 | Bernard Marx
The Hunger Games | Suzanne Collins | 2008 | Katniss Everdeen
The Old Man and the Sea | Ernest Hemingway | 1952 | Santiago
The Grapes of Wrath | John Steinbeck | 1939 | Tom Joad
Les Misérables | Victor Hugo | 1862 | Jean Valjean
The Count of Monte Cristo | Alexandre Dumas | 1846 | Edmond Dantès
Madame Bovary | Gustave Flaubert | 1857 | Rodolphe Boulanger
Crime and Punishment | Fyodor Dostoevsky | 1866 | Rodion Raskolnikov
Anna Karenina | Leo Tolstoy | 1878 | Count Vronsky
Fahrenheit 451 | Ray Bradbury | 1953 | Guy Montag
The Name of the Rose | Umberto Eco | 1980 | William of Baskerville
One Hundred Years of Solitude | Gabriel García Márquez | 1967 | the Buendía family
The Trial | Franz Kafka | 1925 | Josef K.
Ulysses | James Joyce | 1922 | Leopold Bloom
The Handmaid's Tale | Margaret Atwood | 1985 | Offred
Beloved | Toni Morrison | 1987 | Sethe
Things Fall Apart | Chinua Achebe | 1958 | Okonkwo
Mrs Dalloway | Virginia Woolf | 1925 | Septimus Warren Smith
The Stranger | Albert Camus | 1942 | Meursault
Midnight's Children | Salman Rushdie | 1981 | Saleem Sinai
The Magic Mountain | Thomas Mann | 1924 | Hans Castorp
Middlemarch | George Eliot | 1871 | Dorothea Brooke
The Tin Drum | Günter Grass | 1959 | Oskar Matzerath
The Master and Margarita | Mikhail Bulgakov | 1967 | Professor Woland
The Sound and the Fury | William Faulkner | 1929 | the Compson family
Candide | Voltaire | 1759 | Pangloss
Dead Souls | Nikolai Gogol | 1842 | Chichikov
Invisible Cities | Italo Calvino | 1972 | Marco Polo and Kublai Khan
The Leopard | Giuseppe Tomasi di Lampedusa | 1958 | Prince Fabrizio
Infinite Jest | David Foster Wallace | 1996 | Hal Incandenza
Gravity's Rainbow | Thomas Pynchon | 1973 | Tyrone Slothrop
`,
  ask: [
    choose("Who wrote “{book}”?", "author"),
    choose("Which of these books is by {author}?", "book", { hard: 4 }),
    year("In which year was “{book}” by {author} first published as a book?", { hard: 24 }),
    ...order(
      "Which of these books is older than “{book}” by {author}?",
      "Which of these books is younger than “{book}” by {author}?",
      "book",
      { hard: 14 },
    ),
    choose("In which book do readers meet {figure}?", "book", { hard: 2 }),
    choose("Which figure belongs in the book “{book}”?", "figure", { hard: 4 }),
  ],
  explain: "“{book}” by {author} was published in {year}; {figure} belongs to the story.",
};

const words = terms(
  {
    which: "In literature, what {clue}?",
    about: "In literature, which of these is true of {term}?",
    explain: "In literature, {term} {clue}. {detail}",
    hard: 6,
  },
  `
a haiku | is a Japanese poem of 5, 7 and 5 syllables | Bashō was its great master.
a sonnet | has fourteen lines | Shakespeare published 154 of them.
alliteration | repeats the first sounds of neighbouring words | “Peter Piper picked” is an example.
a metaphor | says that one thing is another | “All the world's a stage” is a famous one.
a simile | compares with “like” or “as” | “As brave as a lion” is an example.
onomatopoeia | imitates a sound, as in “buzz” | The word is Greek for “name making”.
a fable | is a short tale, often of animals, with a moral | Aesop is its most famous teller.
an autobiography | is a life told by the one who lived it | A memoir tells only a part of one.
hyperbole | is deliberate exaggeration | “I've told you a million times” is an example.
personification | gives human traits to things | “The wind whispered” is an example.
a limerick | is a comic poem of five lines rhymed AABBA | Edward Lear made the form popular.
satire | mocks faults in order to better the world | Swift's “A Modest Proposal” is an example.
an oxymoron | joins two words that contradict each other | “Deafening silence” is an example.
an epilogue | is a closing part after the story | Its counterpart at the start is a prologue.
irony | says the opposite of what is meant | In its dramatic kind the audience knows more than the figures.
foreshadowing | hints at what is to come | Chekhov's gun is a rule about it.
a soliloquy | is a speech of a figure alone on stage | “To be, or not to be” is one.
blank verse | is unrhymed iambic pentameter | Shakespeare's plays are largely written in it.
an epic | is a long narrative poem about heroes | The “Iliad” and “Beowulf” belong to the kind.
an elegy | is a poem of mourning | Gray wrote one in a country churchyard.
an ode | is a poem of praise addressed to its subject | Keats wrote one to a nightingale.
a bildungsroman | follows a young person's growth into an adult | Goethe's “Wilhelm Meister” is the model.
an epistolary novel | is told in letters | “Dracula” is partly one.
magical realism | sets wonders in an everyday world | It is typical of Latin American authors.
stream of consciousness | writes down the unordered flow of thoughts | Joyce and Woolf used it.
synecdoche | names a part for the whole | “All hands on deck” is an example.
metonymy | names a thing by something linked to it | “The Crown” for the monarchy is an example.
anaphora | repeats words at the start of sentences | “I have a dream” uses it.
enjambment | runs a sentence over the end of a line of verse | The opposite is an end-stopped line.
a villanelle | has nineteen lines and two refrains | “Do not go gentle into that good night” is one.
litotes | affirms by denying the opposite | “Not bad” is an example.
chiasmus | repeats ideas in reverse order | It is named after the Greek letter chi.
hamartia | is the fatal error of a tragic hero | Aristotle uses the word in his “Poetics”.
ekphrasis | is a description of a work of art in words | The shield of Achilles is an early case.
a sestina | repeats six end words in a fixed turning order | Arnaut Daniel is thought to have invented it.
free indirect style | blends a figure's thoughts into the narrator's voice | Austen and Flaubert perfected it.
a roman à clef | hides real people behind invented names | It is French for “novel with a key”.
`,
);

const shakespeare: Table = {
  columns: "play figure setting",
  rows: `
Romeo and Juliet | Mercutio | Verona
Hamlet | Ophelia | Denmark
Macbeth | Banquo | Scotland
Othello | Iago | Venice and Cyprus
A Midsummer Night's Dream | Puck | Athens and a wood
The Merchant of Venice | Shylock | Rialto and Belmont
Julius Caesar | Brutus | Rome
King Lear | Cordelia | ancient Britain
The Tempest | Prospero | an island
Twelfth Night | Malvolio | Illyria
Much Ado About Nothing | Beatrice | Messina
The Taming of the Shrew | Petruchio | Padua
As You Like It | Rosalind | the Forest of Arden
Measure for Measure | Angelo | Vienna
The Winter's Tale | Hermione | Sicilia and Bohemia
Antony and Cleopatra | Enobarbus | Egypt and Rome
Troilus and Cressida | Pandarus | Troy
`,
  ask: [
    choose("In which play by Shakespeare does {figure} appear?", "play", { hard: 8 }),
    choose("Which figure appears in Shakespeare's “{play}”?", "figure", { hard: 10 }),
    choose("Where is Shakespeare's “{play}” mainly set?", "setting", { hard: 14 }),
  ],
  explain: "{figure} appears in “{play}” by Shakespeare; it is set mainly here: {setting}.",
};

export const tables: readonly Table[] = [books, shakespeare, words];

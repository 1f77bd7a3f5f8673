import { choose, order, terms, year, type Table } from "../draft.ts";

const works: Table = {
  columns: "work artist year place",
  rows: `
Mona Lisa | Leonardo da Vinci | 1503 | the Louvre in Paris
The Starry Night | Vincent van Gogh | 1889 | the Museum of Modern Art in New York
The Birth of Venus | Sandro Botticelli | 1485 | the Uffizi in Florence
Guernica | Pablo Picasso | 1937 | the Museo Reina Sofía in Madrid
Girl with a Pearl Earring | Johannes Vermeer | 1665 | the Mauritshuis in The Hague
The Night Watch | Rembrandt | 1642 | the Rijksmuseum in Amsterdam
The Persistence of Memory | Salvador Dalí | 1931 | the Museum of Modern Art in New York
The Kiss (painting in gold) | Gustav Klimt | 1908 | the Belvedere in Vienna
Impression, Sunrise | Claude Monet | 1872 | the Musée Marmottan Monet in Paris
Las Meninas | Diego Velázquez | 1656 | the Prado in Madrid
American Gothic | Grant Wood | 1930 | the Art Institute of Chicago
Whistler's Mother | James McNeill Whistler | 1871 | the Musée d'Orsay in Paris
Liberty Leading the People | Eugène Delacroix | 1830 | the Louvre in Paris
A Sunday Afternoon on the Island of La Grande Jatte | Georges Seurat | 1886 | the Art Institute of Chicago
Nighthawks | Edward Hopper | 1942 | the Art Institute of Chicago
The Garden of Earthly Delights | Hieronymus Bosch | 1500 | the Prado in Madrid
The Third of May 1808 | Francisco Goya | 1814 | the Prado in Madrid
Bal du moulin de la Galette | Pierre-Auguste Renoir | 1876 | the Musée d'Orsay in Paris
The Son of Man | René Magritte | 1964 | a private collection
Wanderer above the Sea of Fog | Caspar David Friedrich | 1818 | the Kunsthalle in Hamburg
The Raft of the Medusa | Théodore Géricault | 1819 | the Louvre in Paris
Campbell's Soup Cans | Andy Warhol | 1962 | the Museum of Modern Art in New York
The Hay Wain | John Constable | 1821 | the National Gallery in London
The Fighting Temeraire | J. M. W. Turner | 1839 | the National Gallery in London
The Arnolfini Portrait | Jan van Eyck | 1434 | the National Gallery in London
The Ambassadors | Hans Holbein the Younger | 1533 | the National Gallery in London
Luncheon on the Grass | Édouard Manet | 1863 | the Musée d'Orsay in Paris
Grande Odalisque | Jean-Auguste-Dominique Ingres | 1814 | the Louvre in Paris
The Death of Marat | Jacques-Louis David | 1793 | the Royal Museums of Fine Arts in Brussels
The Hunters in the Snow | Pieter Bruegel the Elder | 1565 | the Kunsthistorisches Museum in Vienna
The Two Fridas | Frida Kahlo | 1939 | the Museo de Arte Moderno in Mexico City
Black Square | Kazimir Malevich | 1915 | the Tretyakov Gallery in Moscow
Christina's World | Andrew Wyeth | 1948 | the Museum of Modern Art in New York
The Calling of Saint Matthew | Caravaggio | 1600 | a church in Rome
The Swing | Jean-Honoré Fragonard | 1767 | the Wallace Collection in London
Venus of Urbino | Titian | 1538 | the Uffizi in Florence
Ophelia | John Everett Millais | 1852 | Tate Britain in London
Drowning Girl | Roy Lichtenstein | 1963 | the Museum of Modern Art in New York
A Bigger Splash | David Hockney | 1967 | Tate Britain in London
Nude Descending a Staircase, No. 2 | Marcel Duchamp | 1912 | the Philadelphia Museum of Art
Isenheim Altarpiece | Matthias Grünewald | 1516 | the Unterlinden Museum in Colmar
Composition with Red, Blue and Yellow | Piet Mondrian | 1930 | the Kunsthaus in Zürich
The Sleeping Gypsy | Henri Rousseau | 1897 | the Museum of Modern Art in New York
Judith Slaying Holofernes (Uffizi version) | Artemisia Gentileschi | 1620 | the Uffizi in Florence
`,
  ask: [
    choose("Who painted “{work}”?", "artist"),
    choose("Which of these pictures was painted by {artist}?", "work", { hard: 6 }),
    choose("Where does the painting “{work}” by {artist} hang?", "place", { hard: 20 }),
    ...order(
      "Which of these paintings is older than “{work}” by {artist}?",
      "Which of these paintings is younger than “{work}” by {artist}?",
      "work",
      { hard: 16 },
    ),
  ],
  explain: "{artist} painted “{work}” around {year}. Where it is kept: {place}.",
};

const dated: Table = {
  columns: "work artist year what",
  rows: `
Guernica | Pablo Picasso | 1937 | a painting of a bombed town
Nighthawks | Edward Hopper | 1942 | a painting of a late-night diner
American Gothic | Grant Wood | 1930 | a painting of a stern couple before a house
The Night Watch | Rembrandt | 1642 | a group portrait of a militia company
Las Meninas | Diego Velázquez | 1656 | a court painting with the painter in it
The Persistence of Memory | Salvador Dalí | 1931 | a painting of melting watches
Fountain | Marcel Duchamp | 1917 | a ready-made of porcelain
Liberty Leading the People | Eugène Delacroix | 1830 | a painting of a July revolution
The Raft of the Medusa | Théodore Géricault | 1819 | a painting of shipwrecked sailors
Christina's World | Andrew Wyeth | 1948 | a painting of a woman in a field
Black Square | Kazimir Malevich | 1915 | a painting of one geometric shape
The Death of Marat | Jacques-Louis David | 1793 | a painting of a murdered journalist
`,
  ask: [
    year("In which year was “{work}” by {artist} finished or first shown?", { hard: 26 }),
    choose("What is “{work}” by {artist}?", "what", { hard: 4 }),
  ],
  explain: "“{work}” by {artist} is {what} and dates from {year}.",
};

const sculptures: Table = {
  columns: "work artist place",
  rows: `
The Thinker | Auguste Rodin | the Musée Rodin in Paris
David (in marble, over five metres tall) | Michelangelo | the Galleria dell'Accademia in Florence
The Little Mermaid | Edvard Eriksen | the harbour of Copenhagen
The Statue of Liberty | Frédéric Auguste Bartholdi | the harbour of New York
The Ecstasy of Saint Teresa | Gian Lorenzo Bernini | a church in Rome
Little Dancer of Fourteen Years | Edgar Degas | the National Gallery of Art in Washington
Bird in Space | Constantin Brâncuși | several museums
Walking Man I | Alberto Giacometti | several museums
Maman, a giant spider | Louise Bourgeois | the Guggenheim Museum in Bilbao
Balloon Dog | Jeff Koons | private collections and The Broad
Cloud Gate | Anish Kapoor | Millennium Park in Chicago
Angel of the North | Antony Gormley | Gateshead in England
Psyche Revived by Cupid's Kiss | Antonio Canova | the Louvre in Paris
Perseus with the Head of Medusa | Benvenuto Cellini | a square in Florence
Manneken Pis | Hiëronymus Duquesnoy the Elder | Brussels
Unique Forms of Continuity in Space | Umberto Boccioni | several museums
Christ the Redeemer | Paul Landowski | Rio de Janeiro
`,
  ask: [
    choose("Which sculptor made “{work}”?", "artist", { hard: 10 }),
    choose("Which of these sculptures is by {artist}?", "work", { hard: 14 }),
  ],
  explain: "“{work}” is by {artist}. Where to see it: {place}.",
};

const words = terms(
  {
    which: "In art and architecture, what {clue}?",
    about: "In art and architecture, which of these is true of {term}?",
    explain: "In art and architecture, {term} {clue}. {detail}",
    hard: 6,
  },
  `
a self-portrait | shows the artist who made it | Rembrandt made dozens of them.
a still life | shows things such as fruit or flowers | A skull in one reminds of death.
a mosaic | is made of small coloured stones or glass | The pieces are called tesserae.
origami | is the Japanese craft of folding paper | The crane is its best-known figure.
fresco | is painting on wet plaster | Its name is Italian for “fresh”.
Impressionism | caught light and moment with loose brushwork in the 1870s | A critic's mockery gave it its name.
Cubism | broke objects into facets seen from several sides | Picasso and Braque began it.
Surrealism | drew on dreams and the unconscious | André Breton wrote its manifesto in 1924.
Pointillism | builds a picture of tiny dots of pure colour | Seurat developed it.
Pop Art | took advertising and comics as its subjects | It arose in Britain and the United States in the 1950s.
Art Nouveau | used flowing plant forms around 1900 | In German it is called Jugendstil.
Bauhaus | was a German school of design founded by Walter Gropius | It opened in Weimar in 1919.
Gothic architecture | uses pointed arches and flying buttresses | It began near Paris in the 12th century.
chiaroscuro | is strong contrast of light and dark | Caravaggio is its master.
sfumato | is a soft, smoky blending of tones | Leonardo used it for faces.
trompe-l'œil | is painting that deceives the eye | It is French for “deceives the eye”.
impasto | is thickly laid paint that stands out from the canvas | Van Gogh worked that way.
a triptych | is a picture in three panels | The side panels can often be closed.
a collage | is made by gluing paper and other pieces together | The word comes from the French for “to glue”.
etching | prints from a metal plate bitten by acid | Rembrandt was a master of it.
lithography | prints from stone by the repulsion of grease and water | It was invented in Munich in 1796.
a caryatid | is a column in the form of a woman | Six stand at the Erechtheion in Athens.
contrapposto | is a stance with the weight on one leg | Greek sculptors invented it.
Fauvism | used wild unnatural colours around 1905 | Henri Matisse led it.
De Stijl | reduced painting to straight lines and primary colours | It was a Dutch movement.
Dada | was an anti-art movement born in Zürich in 1916 | It began in the Cabaret Voltaire.
Futurism | glorified speed and machines in Italy | Marinetti published its manifesto in 1909.
ukiyo-e | are Japanese woodblock prints of the “floating world” | Hokusai's great wave is one.
Mannerism | stretched figures and poses after the High Renaissance | Pontormo and Parmigianino belong to it.
the golden ratio | is a proportion of about 1.618 | It equals one plus its own inverse.
grisaille | is painting wholly in shades of grey | It often imitates sculpture.
encaustic | is painting with heated coloured wax | The Fayum mummy portraits are examples.
the Hudson River School | painted romantic American landscapes in the 19th century | Thomas Cole founded it.
gouache | is an opaque kind of watercolour | White pigment makes it opaque.
pentimento | is a trace of an earlier version under the paint | The word is Italian for “repentance”.
a vanitas | is a picture with symbols of death and passing time | It flourished in the Dutch Republic.
`,
);

export const tables: readonly Table[] = [works, dated, sculptures, words];

import { choose, order, terms, year, type Table } from "../draft.ts";

const discoveries: Table = {
  columns: "what who year detail",
  rows: `
the law of universal gravitation | Isaac Newton | 1687 | It stands in his “Principia”.
the theory of general relativity | Albert Einstein | 1915 | It explains gravity as curved spacetime.
evolution by natural selection (book “On the Origin of Species”) | Charles Darwin | 1859 | The first printing was sold to the trade on the first day.
radium | Marie and Pierre Curie | 1898 | They took it from pitchblende.
the periodic table with gaps for unknown elements | Dmitri Mendeleev | 1869 | He predicted the properties of gallium.
vaccination against smallpox with cowpox | Edward Jenner | 1796 | The Latin “vacca” means cow.
the laws of heredity in peas | Gregor Mendel | 1866 | He was a monk in Brno.
the moons of Jupiter | Galileo Galilei | 1610 | He used one of the first telescopes.
the model with the Sun in the middle (printed book) | Nicolaus Copernicus | 1543 | The book appeared in the year of his death.
the laws of elliptical planetary orbits | Johannes Kepler | 1609 | He used Tycho Brahe's observations of Mars.
the circulation of the blood | William Harvey | 1628 | He described the heart as a pump.
the planet Uranus | William Herschel | 1781 | He first took it for a comet.
the electron | J. J. Thomson | 1897 | He studied cathode rays.
the atomic nucleus | Ernest Rutherford | 1911 | Alpha particles bounced back from gold foil.
the neutron | James Chadwick | 1932 | It has no electric charge.
the double helix of DNA | James Watson and Francis Crick | 1953 | An X-ray picture from Rosalind Franklin's laboratory helped them.
the expansion of the universe (published law) | Edwin Hubble | 1929 | Distant galaxies recede faster.
radioactivity | Henri Becquerel | 1896 | Uranium salts had blackened a plate.
electromagnetic induction | Michael Faraday | 1831 | It is the principle of the dynamo.
the quantum of action | Max Planck | 1900 | He was explaining the glow of hot bodies.
the uncertainty principle | Werner Heisenberg | 1927 | It limits what can be known of place and momentum together.
the wave equation of quantum mechanics | Erwin Schrödinger | 1926 | He also thought up a famous cat.
continental drift | Alfred Wegener | 1912 | Plate tectonics later explained it.
antiseptic surgery | Joseph Lister | 1867 | He used carbolic acid.
the tubercle bacillus | Robert Koch | 1882 | He announced it in Berlin.
a vaccine against rabies given to a boy | Louis Pasteur | 1885 | The boy was Joseph Meister.
the ABO blood groups | Karl Landsteiner | 1901 | They made transfusions safer.
the model of the hydrogen atom with fixed orbits | Niels Bohr | 1913 | The electron jumps between orbits.
the exclusion principle of electrons | Wolfgang Pauli | 1925 | It explains the build-up of the elements.
the bacteria seen in tooth plaque | Antonie van Leeuwenhoek | 1683 | He ground his own lenses.
the word “cell” for compartments in cork | Robert Hooke | 1665 | It is in his book “Micrographia”.
the “Elementary Treatise of Chemistry” | Antoine Lavoisier | 1789 | He was guillotined five years later.
the magnetic effect of an electric current | Hans Christian Ørsted | 1820 | A compass needle moved during a lecture.
radio waves | Heinrich Hertz | 1887 | The unit of frequency bears his name.
pulsars | Jocelyn Bell Burnell | 1967 | She was a research student.
the positron | Carl Anderson | 1932 | Paul Dirac had predicted it.
superconductivity | Heike Kamerlingh Onnes | 1911 | Mercury lost its resistance near 4 kelvin.
jumping genes in maize | Barbara McClintock | 1950 | She won the Nobel Prize in 1983.
the citric acid cycle | Hans Krebs | 1937 | It happens in mitochondria.
the cosmic microwave background | Arno Penzias and Robert Wilson | 1965 | They first suspected pigeon droppings.
`,
  ask: [
    choose("Whose name is linked with {what}?", "who"),
    choose("Which of these is linked with {who}?", "what", { hard: 6 }),
    year("Which year is given for {what}, the work of {who}?", { hard: 30 }),
    ...order(
      "Which of these discoveries and ideas came before {what}?",
      "Which of these discoveries and ideas came after {what}?",
      "what",
      { hard: 18 },
    ),
  ],
  explain: "The name to know for {what} is {who}, and the year is {year}. {detail}",
};

const units: Table = {
  columns: "unit quantity symbol detail",
  rows: `
metre | length | m | It is defined by the speed of light.
second | time | s | It is defined by a caesium atom.
kilogram | mass | kg | It has been defined by Planck's constant since 2019.
ampere | electric current | A | It is one of the seven base units.
kelvin | temperature | K | Its zero is the lowest possible.
newton | force | N | It speeds up one kilogram by one metre per second squared.
joule | energy | J | It is one newton times one metre.
watt | power | W | It is one joule a second.
volt | electric potential difference | V | It is one joule per coulomb.
ohm | electrical resistance | Ω | It is one volt per ampere.
hertz | frequency | Hz | It counts cycles a second.
pascal | pressure | Pa | It is one newton per square metre.
mole | amount of substance | mol | It holds about 6.022 × 10²³ particles.
candela | luminous intensity | cd | Its name is Latin for candle.
coulomb | electric charge | C | It is one ampere for one second.
farad | electrical capacitance | F | It is one coulomb per volt.
tesla | magnetic flux density | T | It is one weber per square metre.
becquerel | radioactive activity | Bq | It counts decays a second.
henry | inductance | H | It is named after an American physicist.
lux | illuminance | lx | It is one lumen per square metre.
weber | magnetic flux | Wb | It is one volt for one second.
siemens | electrical conductance | S | It is the inverse of the ohm.
gray | absorbed dose of radiation | Gy | It is one joule per kilogram.
katal | catalytic activity | kat | It is one mole a second.
`,
  ask: [
    choose("Which quantity is measured in the unit {unit}?", "quantity", { hard: -6 }),
    choose("What is the SI unit of {quantity}?", "unit", { hard: -4 }),
    choose("What is the symbol of the unit {unit}?", "symbol", { hard: 2 }),
  ],
  explain: "The {unit} ({symbol}) is the SI unit of {quantity}. {detail}",
};

const words = terms(
  {
    which: "In science, what {clue}?",
    about: "In science, which of these is true of {term}?",
    explain: "In science, {term} {clue}. {detail}",
  },
  `
photosynthesis | turns light, water and carbon dioxide into sugar and oxygen | It happens in chloroplasts.
gravity | pulls masses towards each other | It keeps the Moon in its orbit.
the heart | pumps blood through the body | It has four chambers in mammals.
the ozone layer | absorbs most of the Sun's ultraviolet light | It lies in the stratosphere.
evaporation | turns liquid water to vapour below the boiling point | It cools the surface left behind.
a mitochondrion | provides most of the energy of a cell | It has its own DNA.
haemoglobin | carries oxygen in red blood cells | It contains iron.
insulin | lowers the sugar level of the blood | It is made in the pancreas.
a catalyst | speeds up a reaction without being used up | Enzymes are natural ones.
osmosis | moves water through a membrane towards the stronger solution | Roots take up water by it.
an isotope | is a form of an element with another number of neutrons | Carbon-14 is one.
Mercury | is the planet nearest to the Sun | Its year lasts 88 days.
Saturn | is the planet with the most conspicuous rings | Its mean density is below that of water.
Venus | is the planet with the hottest surface | Its thick air traps heat.
Neptune | is the planet farthest from the Sun | It was found by calculation in 1846.
Titan | is the largest moon of Saturn | It has lakes of methane.
Ganymede | is the largest moon in the solar system | It circles Jupiter.
a light year | is a distance of about 9.5 trillion kilometres | It is how far light goes in a year.
a black hole | lets not even light escape | Its border is called the event horizon.
a supernova | is the explosion of a star | One seen in 1054 left the Crab Nebula.
the Richter scale | rates earthquakes by the logarithm of their waves | It was introduced in 1935.
the Beaufort scale | rates the force of wind from 0 to 12 | A British admiral drew it up.
the Mohs scale | rates the hardness of minerals from talc to diamond | It has ten steps.
the pH scale | tells how acid or basic a solution is | Pure water has the value 7.
diffusion | spreads particles from where there are many to where there are few | Perfume in a room is an example.
the Doppler effect | changes the pitch of a passing siren | Astronomers see it as red shift.
refraction | bends light when it enters another medium | It makes a straw in water look broken.
entropy | is a measure of disorder that never falls in a closed system | Boltzmann's formula for it is on his grave.
absolute zero | is a temperature of minus 273.15 degrees Celsius | It cannot quite be reached.
a prion | is a misfolded protein that spreads disease | BSE is caused by one.
meiosis | halves the number of chromosomes | It makes egg and sperm cells.
CERN | runs the Large Hadron Collider | It lies near Geneva.
the Higgs boson | was found in 2012 and is tied to the mass of particles | It had been predicted in 1964.
a neutrino | is a nearly massless particle that hardly reacts with matter | Trillions pass through us each second.
a quark | is a building block of protons and neutrons | The name comes from James Joyce.

apoptosis | is the programmed death of a cell | It forms our fingers before birth.
a polymerase chain reaction | copies pieces of DNA a million times | Kary Mullis devised it in 1983.
the Chandrasekhar limit | is the largest mass of a stable white dwarf | It is about 1.4 times the Sun's.
the Coriolis effect | turns moving air aside on the rotating Earth | It turns storms in opposite ways north and south of the equator.
a chiral molecule | cannot be laid over its mirror image | Amino acids are mostly of the left-handed kind.
the Krebs cycle | oxidises acetyl groups in mitochondria | It is also called citric acid cycle.
a telomere | protects the end of a chromosome | It shortens as cells divide.
the Casimir effect | draws two uncharged plates together in a vacuum | It was predicted in 1948.
`,
);

export const tables: readonly Table[] = [discoveries, units, words];

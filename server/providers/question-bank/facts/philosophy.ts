import { choose, order, terms, type Table } from "../draft.ts";

const thinkers: Table = {
  columns: "thinker idea work year country",
  rows: `
Plato | held that things are copies of eternal Forms | The Republic | -380 | Greece
Aristotle | tutored Alexander the Great and founded the Lyceum | Nicomachean Ethics | -340 | Greece
René Descartes | wrote “I think, therefore I am” | Meditations on First Philosophy | 1641 | France
Karl Marx | saw history as a struggle of classes | Das Kapital | 1867 | Germany
Friedrich Nietzsche | let a madman say that God is dead | Thus Spoke Zarathustra | 1883 | Germany
Immanuel Kant | formulated the categorical imperative | Critique of Pure Reason | 1781 | Germany
Jean-Paul Sartre | said that existence precedes essence | Being and Nothingness | 1943 | France
John Locke | likened the newborn mind to white paper | An Essay Concerning Human Understanding | 1689 | England
Thomas Hobbes | called life without a state solitary, poor, nasty, brutish and short | Leviathan | 1651 | England
Niccolò Machiavelli | asked whether a ruler should be loved or feared | The Prince | 1532 | Italy
Jean-Jacques Rousseau | wrote that man is born free and everywhere is in chains | The Social Contract | 1762 | France (born in Geneva)
Simone de Beauvoir | wrote that one is not born but becomes a woman | The Second Sex | 1949 | France
John Stuart Mill | allowed force against people only to prevent harm to others | On Liberty | 1859 | England
Søren Kierkegaard | wrote of a leap of faith under invented author names | Either/Or | 1843 | Denmark
Baruch Spinoza | spoke of “God or Nature” and ground lenses | Ethics, Demonstrated in Geometrical Order | 1677 | the Netherlands
David Hume | questioned whether we ever see a cause at work | A Treatise of Human Nature | 1739 | Scotland
Gottfried Wilhelm Leibniz | described the world as made of monads | Monadology | 1714 | Germany
G. W. F. Hegel | described the dialectic of master and servant | Phenomenology of Spirit | 1807 | Germany
Arthur Schopenhauer | saw a blind will behind all appearances | The World as Will and Representation | 1818 | Germany
Ludwig Wittgenstein | wrote that one must be silent about what one cannot speak of | Tractatus Logico-Philosophicus | 1921 | Austria
Hannah Arendt | coined the phrase “the banality of evil” | The Human Condition | 1958 | Germany
Michel Foucault | studied prisons and the panopticon as forms of power | Discipline and Punish | 1975 | France
John Rawls | proposed to choose rules behind a veil of ignorance | A Theory of Justice | 1971 | the United States
Thomas Kuhn | described scientific revolutions as changes of paradigm | The Structure of Scientific Revolutions | 1962 | the United States
Karl Popper | made falsifiability the mark of science | The Open Society and Its Enemies | 1945 | Austria
Augustine of Hippo | prayed “grant me chastity, but not yet” | Confessions | 400 | Roman North Africa
Thomas Aquinas | gave five ways to prove God's existence | Summa Theologica | 1274 | Italy
Boethius | wrote about consolation while in prison | The Consolation of Philosophy | 524 | Italy
Marcus Aurelius | was a Roman emperor and a Stoic | Meditations (to himself) | 180 | Italy
Lucretius | set the teaching of atoms in verse | On the Nature of Things | -55 | Italy
Martin Heidegger | asked about the meaning of Being by way of Dasein | Being and Time | 1927 | Germany
Edmund Burke | criticised the revolution in France while it went on | Reflections on the Revolution in France | 1790 | Ireland
Mary Wollstonecraft | demanded education for women on equal terms | A Vindication of the Rights of Woman | 1792 | England
George Berkeley | said that to be is to be perceived | A Treatise Concerning the Principles of Human Knowledge | 1710 | Ireland
Blaise Pascal | argued for belief by a wager | Pensées | 1670 | France
W. V. O. Quine | attacked two dogmas of empiricism | Word and Object | 1960 | the United States
Saul Kripke | argued that names are rigid designators | Naming and Necessity | 1980 | the United States
`,
  ask: [
    choose("Which philosopher {idea}?", "thinker"),
    choose("Who wrote the philosophical work “{work}”?", "thinker", { hard: 4 }),
    choose("Which of these works was written by {thinker}?", "work", { hard: 8 }),
    ...order(
      "Which of these works is older than “{work}” by {thinker}?",
      "Which of these works is younger than “{work}” by {thinker}?",
      "work",
      { hard: 22 },
    ),
  ],
  explain: "{thinker} ({country}) {idea}. “{work}” dates from about {year}.",
};

const ideas = terms(
  {
    which: "In philosophy, what {clue}?",
    about: "In philosophy, which of these is true of {term}?",
    explain: "In philosophy, {term} {clue}. {detail}",
  },
  `
ethics | asks what is right and how to live | The word comes from the Greek for character.
logic | studies valid reasoning | Aristotle wrote the first textbooks of it.
aesthetics | asks about beauty and art | Baumgarten gave the field its name.
epistemology | asks what knowledge is | Its Greek root means knowledge.
metaphysics | asks what there is and what being means | The name comes from the order of Aristotle's books.
scepticism | doubts that certain knowledge can be had | Pyrrho of Elis is its ancient father.
Stoicism | teaches calm and virtue amid what we cannot control | It was founded by Zeno of Citium.
Epicureanism | takes untroubled pleasure as the goal of life | Its school met in a garden.
Cynicism | lived simply and without shame, like Diogenes in his jar | The name comes from the Greek for dog.
utilitarianism | judges acts by the happiness they cause | Bentham and Mill shaped it.
empiricism | derives all knowledge from the senses | Locke, Berkeley and Hume stand for it.
rationalism | trusts reason above the senses as the source of truth | Descartes and Leibniz stand for it.
existentialism | starts from the free and anxious individual | Sartre made it famous.
nihilism | denies that life has any meaning or value | Turgenev's “Fathers and Sons” spread the word.
hedonism | holds that pleasure is the highest good | The Greek word “hedone” means pleasure.
altruism | means acting for the good of others | Auguste Comte coined the word.
dualism | holds that mind and body are two different things | Descartes linked them in the pineal gland.
solipsism | holds that only one's own mind is sure to exist | The word joins the Latin for “alone” and “self”.
determinism | holds that every event follows from what went before | Laplace imagined a demon that foresees all.
pragmatism | measures ideas by their practical effects | Peirce, James and Dewey are its founders.
deontology | judges acts by duty, not by their results | Kant is its main example.
an ad hominem | attacks the person instead of the argument | The Latin means “to the person”.
a straw man | misrepresents a view to refute it more easily | It is named after a dummy for practice.
a slippery slope | claims that one step leads to disaster without showing how | It is also called the thin end of the wedge.
begging the question | assumes in the premise what should be proved | Its Latin name is petitio principii.
a syllogism | draws a conclusion from two premises | “All men are mortal” begins the best-known one.
a paradox | leads from plausible premises to a contradiction | “This sentence is false” is one.
the trolley problem | asks whether to divert a danger from five people to one | Philippa Foot posed it in 1967.
the ship of Theseus | asks whether a thing stays itself when all parts are replaced | Plutarch tells of it.
the allegory of the cave | likens us to prisoners who see only shadows | It stands in the seventh book of “The Republic”.
Occam's razor | prefers explanations with fewer assumptions | It is named after a Franciscan friar.
Buridan's ass | starves between two equal heaps of hay | It mocks a view of the will.
the Socratic method | seeks truth by asking questions | Plato's dialogues show it.
a tabula rasa | is the image of the mind as an empty slate | The Latin means “scraped tablet”.
the golden mean | is the virtuous middle between two extremes | Courage lies between cowardice and rashness.
the social contract | explains the state by an agreement of its people | Hobbes, Locke and Rousseau used it.
theodicy | defends God in view of evil in the world | Leibniz coined the word.
teleology | explains things by their purposes | The Greek word “telos” means end.
phenomenology | describes experience as it is given to consciousness | Husserl founded it.
qualia | are the felt qualities of experience | The redness of red is one.
the Chinese room | argues that following rules is not understanding | John Searle proposed it in 1980.
the Gettier problem | shows justified true belief that is not knowledge | It comes from three pages of 1963.
supervenience | means that one level cannot change without another changing | It is used of mind and brain.
an a priori truth | is known without experience | Mathematics is the usual example.
`,
);

export const tables: readonly Table[] = [thinkers, ideas];

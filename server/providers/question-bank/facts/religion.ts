import { choose, terms, type Table } from "../draft.ts";

const faiths: Table = {
  columns: "thing faith kind detail",
  rows: `
the Bible | Christianity | holy book | It joins the Old and the New Testament.
the Quran | Islam | holy book | It has 114 suras.
the Torah | Judaism | holy book | It is read from a scroll.
the Vedas | Hinduism | holy writings | There are four of them.
the Tripitaka | Buddhism | holy writings | Its name means three baskets.
the Guru Granth Sahib | Sikhism | holy book | It is honoured as a living teacher.
the Avesta | Zoroastrianism | holy writings | Its oldest parts are the Gathas.
the Tao Te Ching | Taoism | classic text | It is ascribed to Laozi.
the Analects | Confucianism | classic text | They collect sayings of a master and his pupils.
the Kitab-i-Aqdas | the Bahá'í Faith | holy book | Its name means the most holy book.
the Kojiki | Shinto | old chronicle | It was finished in 712.
the Agamas | Jainism | holy writings | They hold the teaching of Mahavira.
a church | Christianity | place of worship | The word comes from the Greek for “of the Lord”.
a mosque | Islam | place of worship | A niche shows the direction of prayer.
a synagogue | Judaism | place of worship | The Greek word means assembly.
a mandir | Hinduism | place of worship | It houses images of deities.
a gurdwara | Sikhism | place of worship | All visitors are fed in its kitchen.
a stupa | Buddhism | monument | It holds relics.
a fire temple | Zoroastrianism | place of worship | The flame is never let go out.
a torii gate | Shinto | sign of a shrine | Many are painted red.
Easter | Christianity | feast | It falls on a Sunday after a full Moon in spring.
Ramadan | Islam | month of fasting | The fast lasts from dawn to sunset.
Yom Kippur | Judaism | day of atonement | It comes ten days after New Year.
Holi | Hinduism | feast | People throw coloured powder.
Vesak | Buddhism | feast | It recalls birth, enlightenment and death of the founder.
Vaisakhi | Sikhism | feast | It recalls the founding of the Khalsa.

Ridván | the Bahá'í Faith | feast | It lasts twelve days.
`,
  ask: [
    choose("With which religion or teaching is {thing} linked above all?", "faith", { hard: -4 }),
    choose("Which of these belongs above all to {faith}?", "thing", { hard: 2 }),
  ],
  explain: "{Thing} belongs to {faith} ({kind}). {detail}",
};

const bible: Table = {
  columns: "figure deed detail",
  rows: `
Noah | built an ark | A dove brought him an olive leaf.
Moses | led the Israelites out of Egypt | He received the Ten Commandments on Sinai.
David | beat Goliath with a sling | He became king in Jerusalem.
Eve | ate of the forbidden fruit first | A serpent tempted her.
Judas Iscariot | betrayed Jesus for thirty pieces of silver | He gave the sign with a kiss.
Jonah | was swallowed by a great fish | He was sent to Nineveh.
Samson | lost his strength with his hair | Delilah betrayed him.
Solomon | threatened to divide a child with a sword | He built the first Temple.
Pontius Pilate | washed his hands in innocence | He was the Roman governor of Judaea.
Mary Magdalene | was first to see the risen Jesus in the Gospel of John | She took him for the gardener.
Abraham | was ready to sacrifice his son Isaac | A ram took the boy's place.
Jacob | dreamed of a ladder to heaven | He was later called Israel.
Joseph | was sold into slavery by his brothers | He read dreams in Egypt.
Daniel | was thrown into a den of lions | He read the writing on the wall.
Peter | denied Jesus three times before the cock crowed | He had been a fisherman.
Thomas | doubted until he saw the wounds | His name means twin.
Lazarus | was raised from the dead at Bethany | He was a brother of Martha and Mary.
Paul | was struck down on the road to Damascus | He wrote many letters.
John the Baptist | baptised Jesus in the Jordan | Salome was given his head.
Cain | killed his brother Abel | He was marked and wandered in Nod.

Joshua | brought down the walls of Jericho | Trumpets sounded seven days.
Job | kept his faith through boils and losses | His patience is a proverb.
Elijah | rode to heaven in a chariot of fire | Ravens had fed him.
Ruth | followed her mother-in-law Naomi to Bethlehem | She became an ancestor of a king.
Esther | saved the Jews of Persia as queen | The feast of Purim recalls it.
Stephen | was stoned as the first Christian martyr | His day is 26 December.
Jezebel | was a Phoenician queen of Israel thrown from a window | Dogs ate her.
Methuselah | lived 969 years | He was a grandfather of the builder of the ark.
Nebuchadnezzar | had three men thrown into a fiery furnace | He ruled Babylon.
Gideon | won with three hundred men chosen by how they drank | They carried jars and torches.
Simon of Cyrene | was made to carry the cross | He came from North Africa.
`,
  ask: [
    choose("Who, according to the Bible, {deed}?", "figure", { hard: 2 }),
    choose("What, according to the Bible, is told of {figure}?", "deed", { hard: 4 }),
  ],
  explain: "The Bible tells that {figure} {deed}. {detail}",
};

const words = terms(
  {
    which: "In the study of religions, who or what {clue}?",
    about: "In the study of religions, which of these is true of {term}?",
    explain: "{Term} {clue}. {detail}",
  },
  `
the Pope | is head of the Catholic Church | He is also bishop of Rome.
Mecca | is the city towards which Muslims pray | The Kaaba stands there.
the Dalai Lama | is the best-known teacher of Tibetan Buddhism | The title means ocean of wisdom.
kosher | means allowed by Jewish food law | Pork is not.
halal | means permitted in Islam | The opposite is haram.
monotheism | is belief in one god | Judaism, Christianity and Islam share it.
polytheism | is belief in many gods | Ancient Greece had it.
atheism | denies that gods exist | The Greek word means “without god”.
agnosticism | holds that we cannot know whether God exists | T. H. Huxley coined the word.
a monk | lives in a religious community under vows | A nun is the female counterpart.
a rabbi | is a teacher of Judaism | The Hebrew word means “my master”.
an imam | leads Muslim prayer | Shiites use the title for leaders of all believers too.
karma | is the law that deeds have effects in later lives | Hindus, Buddhists and Jains know it.
nirvana | is release from the round of rebirth in Buddhism | The word means “blowing out”.
the Buddha | was called Siddhartha Gautama before his awakening | He sat under a fig tree.
Brahma | is the creator in the Hindu trinity | He has four faces.
Vishnu | is the preserver who came as Rama and Krishna | He rides on Garuda.
Shiva | is the destroyer in the Hindu trinity | He dances in a ring of fire.
Ganesha | is the elephant-headed Hindu god | He removes obstacles.
Martin Luther | translated the New Testament at the Wartburg | He was under the ban of the empire.
John Calvin | led the Reformation in Geneva | He taught predestination.
Guru Nanak | founded Sikhism | He was born in 1469.
Joseph Smith | founded the Latter Day Saint movement | He published a book in 1830.
Bahá'u'lláh | founded the Bahá'í Faith | His shrine is near Acre.
Mahavira | was the last of the 24 great teachers of Jainism | He taught non-violence.
the hajj | is the pilgrimage that is a pillar of Islam | It takes place in the last month of the year.
a muezzin | calls to prayer from a minaret | Bilal was the first.
Hanukkah | is the Jewish feast of lights lasting eight days | A branch of the candlestick is lit each day.
Passover | recalls the exodus from Egypt | Unleavened bread is eaten.
Lent | is the forty days of fasting before Easter | It begins on Ash Wednesday.
Pentecost | recalls the coming of the Holy Spirit | It falls fifty days after Easter by old counting.
Diwali | is the Indian feast of lights | Many houses put out oil lamps.
the Eucharist | recalls the Last Supper with bread and wine | The Greek word means thanksgiving.
a bar mitzvah | marks a Jewish boy's coming of age at 13 | The words mean son of the commandment.
the Five Ks | are the signs of faith that baptised Sikhs wear | Uncut hair is one.
yin and yang | are the complementary forces of Chinese thought | Dark and light stand for them.
the Noble Eightfold Path | leads to the end of suffering in Buddhism | Right speech is a part of it.
ahimsa | is the principle of doing no harm | It is central to Jainism.
the Great Schism of 1054 | divided the eastern and the western church | Legates laid a bull on an altar.
the Council of Nicaea | drew up a creed in 325 | An emperor called it.
the Septuagint | is the old Greek translation of the Hebrew Bible | Its name means seventy.
the Vulgate | is the Latin Bible of Saint Jerome | It was made about 400.
the Talmud | collects rabbinic discussion of Jewish law | It joins Mishnah and Gemara.
Sufism | is the mystical way in Islam | Rumi was one of its poets.
a bodhisattva | puts off nirvana to help others | Avalokiteshvara is one.
Manichaeism | taught a struggle of light and darkness and was founded in Persia | Augustine once followed it.
the Jesuits | were founded by Ignatius of Loyola | Their name is Society of Jesus.
the Benedictines | follow a rule of about 530 | “Pray and work” is their motto.
gnosticism | sought salvation by secret knowledge | Texts of it were found at Nag Hammadi.
Arianism | denied that the Son is equal to the Father | It was rejected in 325.
`,
);

export const tables: readonly Table[] = [faiths, bible, words];

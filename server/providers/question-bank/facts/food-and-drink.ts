import { choose, terms, type Table } from "../draft.ts";

const dishes: Table = {
  columns: "dish country what",
  rows: `
Pizza Margherita | Italy | a flat bread with tomato, mozzarella and basil
Sushi | Japan | vinegared rice with fish or vegetables
Tacos | Mexico | folded maize tortillas with a filling
Paella | Spain | saffron rice from Valencia cooked in a wide pan
Peking duck | China | roasted fowl with crisp skin and thin pancakes
Haggis | Scotland | sheep's offal with oatmeal and spices
Goulash | Hungary | a paprika-seasoned beef stew or soup
Pad Thai | Thailand | stir-fried rice noodles with tamarind and peanuts
Kimchi | South Korea | fermented vegetables, mostly napa cabbage
Poutine | Canada | chips with cheese curds and gravy
Pho | Vietnam | a noodle soup with herbs and beef or chicken
Wiener schnitzel | Austria | a thin breaded veal cutlet
Cheese fondue | Switzerland | melted cheese in a shared pot with bread
Pierogi | Poland | filled half-moon dumplings
Sauerbraten | Germany | a pot roast marinated in vinegar
Nasi goreng | Indonesia | fried rice with sweet soy sauce
Bibimbap | South Korea | rice topped with vegetables, egg and chilli paste
Stroopwafel | the Netherlands | two thin wafers with a syrup filling
Smørrebrød | Denmark | open sandwiches on rye bread
Tom yum | Thailand | a hot soup with lemongrass and shrimp
Rendang | Indonesia | beef cooked dry in coconut milk and spices
Empanada mendocina | Argentina | a baked pastry filled with beef, onion and olives
Pastel de nata | Portugal | a custard tart in flaky pastry
Injera | Ethiopia | a sour spongy flat bread of teff
Sinigang | the Philippines | a sour soup with tamarind
Khachapuri | Georgia | bread filled with cheese
Bobotie | South Africa | spiced minced meat with an egg topping
Köttbullar | Sweden | small meatballs served with lingonberries
Ajiaco | Colombia | a chicken soup with three kinds of potato
Hákarl | Iceland | fermented Greenland shark
Mămăligă | Romania | a maize porridge like polenta
Amok | Cambodia | steamed fish curry in banana leaf
Beshbarmak | Kazakhstan | boiled meat over flat noodles
Karjalanpiirakka | Finland | a rye pasty filled with rice porridge
Ema datshi | Bhutan | chillies stewed in cheese
Lamington | Australia | sponge cake squares in chocolate and coconut
Kottu roti | Sri Lanka | chopped flat bread fried with vegetables
`,
  ask: [
    choose("From which country does the dish “{dish}” come?", "country"),
    choose("Which of these dishes comes from {country}?", "dish", { hard: 4 }),
    choose("What is the dish “{dish}”?", "what", { hard: 4 }),
    choose("What is the name of this dish: {what}?", "dish", { hard: 8 }),
  ],
  explain: "{dish} is {what}. It is at home in {country}.",
};

const cheeses: Table = {
  columns: "cheese country milk",
  rows: `
Brie | France | cow's
Mozzarella di bufala | Italy | buffalo's
Feta | Greece | sheep's
Gouda | the Netherlands | cow's
Emmental | Switzerland | cow's
Cheddar | England | cow's
Manchego | Spain | sheep's
Roquefort | France | sheep's
Parmigiano Reggiano | Italy | cow's
Halloumi | Cyprus | sheep's and goat's
Stilton | England | cow's
Gruyère | Switzerland | cow's
Pecorino Romano | Italy | sheep's
Edam | the Netherlands | cow's
Camembert | France | cow's
Havarti | Denmark | cow's
Jarlsberg | Norway | cow's
Oscypek | Poland | sheep's
Queijo Serra da Estrela | Portugal | sheep's
Västerbotten | Sweden | cow's
Monterey Jack | the United States | cow's
Oaxaca | Mexico | cow's
`,
  ask: [
    choose("From which country does {cheese} cheese come?", "country", { hard: 8 }),
    choose("Which of these cheeses comes from {country}?", "cheese", { hard: 10 }),
  ],
  explain: "{cheese} is a cheese from {country}; it is traditionally made from {milk} milk.",
};

const kitchen = terms(
  {
    which: "In the kitchen, what {clue}?",
    about: "In the kitchen, which of these is true of {term}?",
    explain: "In the kitchen, {term} {clue}. {detail}",
    hard: 2,
  },
  `
saffron | is the dried stigma of a crocus | It takes well over a hundred flowers to make a gram.
tofu | is pressed from curdled soy milk | It came from China.
hummus | is a paste of chickpeas and tahini | Its name is Arabic for “chickpeas”.
guacamole | is a dip of mashed avocado | Its name comes from the Aztecs' language.
mayonnaise | is an emulsion of oil and egg yolk | Lecithin in the yolk keeps it together.
balsamic vinegar | is aged from cooked grape must around Modena | The traditional kind matures for at least twelve years.
couscous | is made of tiny rolled grains of semolina | It is steamed in North Africa.
wasabi | is a sharp green paste of a Japanese stem | Most of it abroad is coloured horseradish.
vanilla | is the cured pod of a climbing orchid | Outside Mexico its flowers are pollinated by hand.
cinnamon | is the dried inner bark of a tree | The true kind comes from Sri Lanka.
marzipan | is a sweet paste of almonds and sugar | The city of Lübeck is famous for it.
tahini | is a paste of sesame seeds | It is an ingredient of halva.
caviar | is the salted roe of the sturgeon | Beluga is the costliest kind.
truffles | are fungi that grow underground | Dogs find them by their smell.
gelatine | sets jellies and comes from animal collagen | Agar from seaweed is the plant alternative.
pesto alla genovese | is a sauce of basil, pine nuts, cheese and oil | It comes from Liguria.
soy sauce | is brewed from beans, wheat, salt and a mould | The mould is called koji.
al dente | means cooked so that pasta is still firm to the bite | The Italian words mean “to the tooth”.
blanching | means dipping food briefly in boiling water and then cooling it | It keeps vegetables green.
a roux | thickens sauces with flour cooked in fat | Béchamel begins with one.
sous vide | means cooking in a sealed bag in warm water | The French words mean “under vacuum”.
umami | is the savoury fifth basic taste | Kikunae Ikeda named it in 1908.
julienne | means cutting into thin matchsticks | Cutting those into cubes gives a brunoise.
deglazing | means loosening browned bits in a pan with liquid | The result is the base of a sauce.
a bain-marie | is a gentle water bath for sauces and custards | It is named after an alchemist called Maria.
a sommelier | advises guests on wine | The office grew out of that of a court supply officer.
mirepoix | is a base of diced onion, carrot and celery | Italians call it soffritto.
capers | are pickled flower buds | The shrub grows round the Mediterranean Sea.
harissa | is a hot chilli paste of Tunisia | It is spiced with caraway and garlic.
ghee | is clarified butter of Indian cooking | It keeps for months without cooling.
miso | is a fermented soybean paste for soups | The darker kinds have aged longer.
polenta | is a porridge of maize meal | It was a staple of northern Italy.
seitan | is made of wheat gluten | It has a meaty texture.
molasses | is the dark syrup left when sugar is refined | It is the raw material of rum.
gazpacho | is a cold soup of raw tomatoes and cucumber | It comes from Andalusia.
ganache | is a mixture of chocolate and hot cream | It fills truffles and cakes.
sumac | is a sour dark red spice of dried berries | It flavours salads of the Levant.
asafoetida | is a pungent resin that replaces onion and garlic | It is also called “devil's dung”.
choux pastry | puffs up by steam and makes éclairs | The dough is cooked before baking.
aquafaba | is the cooking water of chickpeas beaten like egg white | It was made known in 2014.
the Maillard reaction | browns meat and bread and gives them flavour | Amino acids react with sugars in it.
a mandoline | slices vegetables thinly over a fixed blade | Use the guard for the last piece.
`,
);

const beverages = terms(
  {
    which: "Which drink {clue}?",
    about: "Which of these is true of {term}?",
    explain: "{Term} {clue}. {detail}",
    hard: 4,
  },
  `
coffee | is brewed from the roasted seeds of a shrub first used in Ethiopia | Its seeds are called beans.
green tea | is made of unoxidised leaves | Black tea comes from the same plant.
champagne | is a sparkling wine of one region in north-eastern France | It ferments a second time in the bottle.
tequila | is distilled from blue agave | It comes from around a Mexican town of that name.
sake | is brewed from polished rice | It comes from Japan.
cider | is fermented from apple juice | The drink from pears is called perry.
mead | is fermented from honey | It was drunk in the sagas of the North.
port | is a sweet fortified wine of the Douro valley | It is shipped from a city of that name.
cappuccino | is espresso with steamed milk and foam | It is named after the colour of a friar's habit.
espresso | is made by pressing hot water through fine coffee | It is the base of many other drinks.
rum | is distilled from sugar cane products | It comes from the Caribbean.
gin | gets its flavour from juniper berries | It grew out of the Dutch jenever.
ouzo | is a Greek aniseed spirit that turns cloudy with water | Turkey's relative of it is raki.
absinthe | is a green spirit with wormwood | It was banned in many countries about 1915.
mate | is an infusion of holly leaves drunk through a metal straw | It is shared in Argentina and Uruguay.
chai masala | is tea boiled with milk and spices | It comes from India.
rooibos | is an infusion of a red bush of South Africa | It has no caffeine.
kvass | is brewed from rye bread in eastern Europe | It has very little alcohol.
kombucha | is sweet tea fermented by bacteria and yeast | The culture floats as a jelly-like disc.
lassi | is a yoghurt drink of India | It may be sweet or salted.
horchata de chufa | is a milk of tiger nuts from Valencia | The Mexican drink of the name is made of rice.
kumis | is fermented mare's milk of Central Asia | It is fizzy and slightly alcoholic.
a daiquiri | is a cocktail of rum, lime juice and sugar | It is named after a Cuban place.
a mojito | is a cocktail of rum, lime, mint and soda | It comes from Cuba.
a Negroni | is a cocktail of gin, red vermouth and Campari | It is served with orange.
a caipirinha | is a cocktail of cachaça, lime and sugar | It comes from Brazil.
grappa | is distilled from what is left of pressed grapes | It comes from Italy.
retsina | is a wine flavoured with pine resin | It comes from Greece.
sherry | is a fortified wine from around Jerez | It ages in a row of barrels called a solera.
`,
);

export const tables: readonly Table[] = [dishes, cheeses, kitchen, beverages];

import { choose, terms, year, type Table } from "../draft.ts";

const olympics: Table = {
  columns: "city year country season",
  rows: `
London | 2012 | the United Kingdom | Summer
Tokyo | 1964 | Japan | Summer
Rio de Janeiro | 2016 | Brazil | Summer
Beijing | 2008 | China | Summer
Athens | 2004 | Greece | Summer
Sydney | 2000 | Australia | Summer
Atlanta | 1996 | the United States | Summer
Barcelona | 1992 | Spain | Summer
Seoul | 1988 | South Korea | Summer
Montreal | 1976 | Canada | Summer
Munich | 1972 | Germany | Summer
Mexico City | 1968 | Mexico | Summer
Rome | 1960 | Italy | Summer
Melbourne | 1956 | Australia | Summer
Helsinki | 1952 | Finland | Summer
Berlin | 1936 | Germany | Summer
Amsterdam | 1928 | the Netherlands | Summer
Antwerp | 1920 | Belgium | Summer
Stockholm | 1912 | Sweden | Summer
Sochi | 2014 | Russia | Winter
Vancouver | 2010 | Canada | Winter
Turin | 2006 | Italy | Winter
Salt Lake City | 2002 | the United States | Winter
Nagano | 1998 | Japan | Winter
Lillehammer | 1994 | Norway | Winter
Albertville | 1992 | France | Winter
Calgary | 1988 | Canada | Winter
Sarajevo | 1984 | Yugoslavia | Winter
Sapporo | 1972 | Japan | Winter
Grenoble | 1968 | France | Winter
Chamonix | 1924 | France | Winter
`,
  ask: [
    choose("Which city hosted the {season} Olympics of {year}?", "city", {
      near: "season",
      hard: 4,
    }),
    year("In which year were the {season} Olympics opened in {city}?"),
    choose("In which country were the {season} Olympics of {year} held?", "country", { hard: 2 }),
  ],
  explain: "The {season} Olympics of {year} were held in {city}, {country}.",
};

const worldCups: Table = {
  columns: "year host winner loser",
  rows: `
2022 | Qatar | Argentina | France
2018 | Russia | France | Croatia
2014 | Brazil | Germany | Argentina
2010 | South Africa | Spain | the Netherlands
2006 | Germany | Italy | France
1998 | France | France | Brazil
1994 | the United States | Brazil | Italy
1990 | Italy | Germany | Argentina
1986 | Mexico | Argentina | Germany
1982 | Spain | Italy | Germany
1978 | Argentina | Argentina | the Netherlands
1974 | Germany | Germany | the Netherlands
1970 | Mexico | Brazil | Italy
1966 | England | England | Germany
1962 | Chile | Brazil | Czechoslovakia
1958 | Sweden | Brazil | Sweden
1954 | Switzerland | Germany | Hungary
1938 | France | Italy | Hungary
1934 | Italy | Italy | Czechoslovakia
1930 | Uruguay | Uruguay | Argentina
`,
  ask: [
    choose("Which team won the men's football World Cup of {year}?", "winner", { hard: -4 }),
    choose("Which country hosted the men's football World Cup of {year}?", "host"),
    choose("Which team lost the final of the men's football World Cup of {year}?", "loser", {
      hard: 20,
    }),
  ],
  explain:
    "In {year} {winner} won the men's football World Cup in {host}, beating {loser} in the final.",
};

const athletes: Table = {
  columns: "athlete sport country fact",
  rows: `
Usain Bolt | athletics | Jamaica | ran 100 metres in 9.58 seconds in 2009
Michael Jordan | basketball | the United States | won six NBA titles with the Chicago Bulls
Serena Williams | tennis | the United States | won 23 Grand Slam singles titles
Muhammad Ali | boxing | the United States | beat George Foreman in the “Rumble in the Jungle” in 1974
Pelé | association football | Brazil | won three World Cups as a player
Tiger Woods | golf | the United States | won the Masters by twelve strokes at 21
Michael Phelps | swimming | the United States | won eight gold medals at the Olympics of 2008
Roger Federer | tennis | Switzerland | won Wimbledon eight times in singles
Lewis Hamilton | Formula One | the United Kingdom | won his first world title in 2008 with McLaren
Simone Biles | gymnastics | the United States | has a double somersault with triple twist on the floor named after her
Wayne Gretzky | ice hockey | Canada | wore number 99, which the whole league retired
Babe Ruth | baseball | the United States | was sold by Boston to New York after the season of 1919
Tom Brady | American football | the United States | played in ten Super Bowls and won seven of them
Rafael Nadal | tennis | Spain | won the French Open fourteen times in singles
Magnus Carlsen | chess | Norway | became world champion in 2013
Eliud Kipchoge | athletics | Kenya | ran the marathon distance in under two hours in Vienna in 2019
Nadia Comăneci | gymnastics | Romania | got the first perfect ten at the Olympics in 1976
Jonah Lomu | rugby union | New Zealand | scored four tries against England in a semi-final of 1995
Don Bradman | cricket | Australia | had a Test batting average of 99.94
Sachin Tendulkar | cricket | India | made a hundred international centuries
Eddy Merckx | cycling | Belgium | was nicknamed “the Cannibal”
Ayrton Senna | Formula One | Brazil | died at the San Marino Grand Prix of 1994
Lindsey Vonn | alpine skiing | the United States | won the women's Olympic downhill of 2010
Katarina Witt | figure skating | East Germany | won Olympic gold in 1988 to music from “Carmen”
Steve Redgrave | rowing | the United Kingdom | won gold at five Olympic Games in a row from 1984 to 2000
Kelly Slater | surfing | the United States | won the first of eleven world titles in 1992
Jahangir Khan | squash | Pakistan | was unbeaten for more than five years in the 1980s
Jan-Ove Waldner | table tennis | Sweden | is called the “Mozart” of the game
Lin Dan | badminton | China | won the men's singles at the Olympics of 2008 and 2012
Ole Einar Bjørndalen | biathlon | Norway | won all four men's races at the Olympics of 2002
Greg Louganis | diving | the United States | won gold in 1988 after hitting his head on the board
Aleksandr Karelin | wrestling | Russia | lost the Olympic final of 2000 after years without defeat
Ronnie O'Sullivan | snooker | the United Kingdom | made a maximum break in just over five minutes in 1997
Karch Kiraly | volleyball | the United States | won Olympic gold indoors and on the beach
Teddy Riner | judo | France | won Olympic gold over 100 kilograms in 2012 and 2016
`,
  ask: [
    choose("In which sport did {athlete} become famous?", "sport"),
    choose("Which of these athletes became famous in {sport}?", "athlete", { hard: 6 }),
    choose("Which country did {athlete} represent?", "country", { hard: 6 }),
    choose("Which athlete {fact}?", "athlete", { hard: 6 }),
  ],
  explain: "{athlete} ({sport}, {country}) {fact}.",
};

const sports = terms(
  {
    which: "Which sport {clue}?",
    about: "Which of these is true of {term}?",
    explain: "{Term} {clue}. {detail}",
    hard: 4,
  },
  `
basketball | was invented by James Naismith in 1891 | The first baskets were for peaches.
volleyball | has six players a side indoors and a libero in another shirt | It was invented in Massachusetts in 1895.
cricket | has wickets, overs and innings that may last for days | A team has eleven players.
ice hockey | is played with a puck | A team has six players on the ice.
badminton | is played with a shuttlecock | It is named after an English country house.
curling | has players sweep the ice before a sliding stone | The granite comes from a Scottish island.
fencing | is fought with foil, épée or sabre | Hits are registered electrically.
judo | was created by Jigoro Kano in 1882 | Its name means “gentle way”.
sumo | is won by pushing the other out of a clay ring | The highest rank is called yokozuna.
polo | is played on horseback with mallets | A match is divided into chukkas.
golf | counts birdies, eagles and bogeys | A full course has 18 holes.
snooker | has fifteen red balls and six colours | The highest regular break is 147.
darts | often starts a leg at 501 points | The leg must end on a double.
baseball | has nine innings in a regular game | The pitcher stands on a mound.
rowing | is raced mostly facing backwards, in sculls and eights | A coxswain steers the largest boats.
rugby union | has fifteen players a side and scrums of eight | A try is worth five points.
water polo | has seven players a side in a pool | Only the goalkeeper may use both hands.
handball | has seven players a side and a throw-off in a hall | Attackers may take three steps with the ball.
biathlon | joins cross-country skiing with rifle shooting | A miss costs a penalty loop or time.
the decathlon | is won on points from ten events in two days | It ends with the 1,500 metres.
the modern pentathlon | was introduced at the Olympics by Pierre de Coubertin in 1912 | It joined fencing, swimming, riding, shooting and running.
kabaddi | has raiders who must hold their breath while chanting | It comes from India.
sepak takraw | is like volleyball with the feet and a rattan ball | It is popular in South-east Asia.
hurling | is played in Ireland with sticks and a small ball called sliotar | The stick is called a hurley.
pelota | is played against a wall in the Basque Country | A long curved basket can be used to throw the ball.
lacrosse | comes from the native peoples of North America and uses a netted stick | It is Canada's national summer sport.
`,
);

export const tables: readonly Table[] = [olympics, worldCups, athletes, sports];

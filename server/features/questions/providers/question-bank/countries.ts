import { capital, type Draft } from "./draft.ts";
import cities from "./facts/cities.json" with { type: "json" };
import lists from "./facts/countries.json" with { type: "json" };

interface Country {
  code: string;
  name: string;
  capital: string;
  continent: string;
  currency: string[];
  phone: number[];
}

/**
 * `famous`: sovereign states in rough order of fame; territories, disputed states and states with several or moved
 * capitals are left out. Of `cityOnly` the capital alone is open to dispute, not where their cities lie.
 */
const { famous, cityOnly } = lists;
/** Currencies shared by several states or named after the country itself in too many ways to ask about. */
const shared = new Set(lists.shared);
/** Countries on two continents, or assigned to either. */
const betweenContinents = new Set(lists.betweenContinents);
/** Changed or about to change; the list may lag behind. */
const unsettledCurrency = new Set(lists.unsettledCurrency);
const withArticle = new Set(lists.withArticle);

const inText = (country: Country) =>
  withArticle.has(country.code) ? `the ${country.name}` : country.name;

/** Questions from lists of countries, currencies and large cities. */
export async function draftCountries(): Promise<Draft[]> {
  const { countries, continents } = await import("countries-list");
  const known = new Map(Object.entries(countries));
  const read = (code: string): Country[] => {
    const entry = known.get(code as keyof typeof countries);
    if (entry === undefined || entry.capital === "") return [];
    const { name, capital, currency, phone } = entry;
    return [
      {
        code,
        name,
        capital,
        continent: code === "RU" ? "Europe" : continents[entry.continent],
        currency: [...currency],
        phone: [...phone],
      },
    ];
  };
  const list = famous.flatMap(read);
  return [
    ...capitals(list),
    ...continentsOf(list),
    ...currencies(list),
    ...largeCities([...list, ...cityOnly.flatMap(read)]),
    ...dialling(list),
  ];
}

const rank = (index: number, list: readonly Country[]) => (50 * index) / list.length;

function capitals(list: readonly Country[]): Draft[] {
  return list.flatMap((country, index) => {
    const near = list.filter((other) => other.continent === country.continent && other !== country);
    const where = betweenContinents.has(country.code) ? "" : `, which lies in ${country.continent}`;
    const explanation = `${country.capital} is the capital of ${inText(country)}${where}. Its dialling code is +${country.phone[0] ?? ""}.`;
    const hardness = rank(index, list);
    return [
      {
        question: `What is the capital of ${inText(country)}?`,
        answer: country.capital,
        wrong: near.map((o) => o.capital),
        explanation,
        hardness: hardness - 10,
      },
      {
        question: `Of which country is ${country.capital} the capital?`,
        answer: country.name,
        wrong: near.map((o) => o.name),
        explanation,
        hardness: hardness - 8,
      },
    ];
  });
}

function continentsOf(list: readonly Country[]): Draft[] {
  const all = ["Africa", "Asia", "Europe", "North America", "South America", "Oceania"];
  return list.flatMap((country, index) =>
    betweenContinents.has(country.code)
      ? []
      : [
          {
            question: `On which continent does the country ${country.name} lie?`,
            answer: country.continent,
            wrong: all.filter((name) => name !== country.continent),
            explanation: `${capital(inText(country))} lies in ${country.continent}; its capital is ${country.capital}.`,
            hardness: rank(index, list) - 14,
          },
        ],
  );
}

function currencies(list: readonly Country[]): Draft[] {
  const names = new Intl.DisplayNames("en", { type: "currency" });
  const own = list.flatMap((country) => {
    const code = country.currency[0];
    if (code === undefined || country.currency.length > 1 || shared.has(code)) return [];
    if (unsettledCurrency.has(country.code)) return [];
    const users = list.filter((other) => other.currency.includes(code));
    return users.length === 1 ? [{ country, code, name: names.of(code) ?? code }] : [];
  });
  return own.map(({ country, code, name }, index) => ({
    question: `Which country has the currency with the code ${code}?`,
    answer: country.name,
    wrong: own
      .filter((o) => o.country.continent === country.continent && o.code !== code)
      .map((o) => o.country.name),
    explanation: `${code} stands for the ${name}, the currency of ${inText(country)}.`,
    hardness: (50 * index) / own.length + 20,
  }));
}

function dialling(list: readonly Country[]): Draft[] {
  const own = list.filter(
    (country) =>
      country.phone.length === 1 &&
      list.filter((o) => o.phone[0] === country.phone[0]).length === 1,
  );
  return own.map((country, index) => ({
    question: `Which country has the international dialling code +${country.phone[0] ?? ""}?`,
    answer: country.name,
    wrong: own.filter((o) => o.continent === country.continent && o !== country).map((o) => o.name),
    explanation: `Calls to ${inText(country)} begin with +${country.phone[0] ?? ""}; its capital is ${country.capital}.`,
    hardness: (50 * index) / own.length + 34,
  }));
}

function largeCities(list: readonly Country[]): Draft[] {
  return cities.flatMap(([name, code], index) => {
    const country = list.find((other) => other.code === code);
    if (country === undefined) return [];
    const near = list.filter((other) => other.continent === country.continent && other !== country);
    return [
      {
        question: `In which country is the large city of ${String(name)}?`,
        answer: country.name,
        wrong: near.map((other) => other.name),
        explanation: `${String(name)} is a city of over a million people in ${inText(country)}.`,
        hardness: (50 * index) / cities.length + 4,
      },
    ];
  });
}

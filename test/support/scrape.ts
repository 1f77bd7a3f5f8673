/** One line of the Prometheus text format. */
export interface Sample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** Reads the text of `/metrics`; throws on a line that is none of the format. */
export function parseScrape(text: string): Sample[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
      if (!found) throw new Error(`not a sample: ${line}`);
      const [, name = "", labels = "", value] = found;
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, label, of = ""]) => [label, of])),
        value: numberOf(value),
      };
    });
}

const numberOf = (text = ""): number => (text === "+Inf" ? Infinity : Number(text));

/** Metrics of a service as an agent of this machine reads them. */
export async function scrape({ operatorUrl }: { operatorUrl: string }): Promise<Sample[]> {
  return parseScrape(await (await fetch(`${operatorUrl}/metrics`)).text());
}

/** Name and labels as the text format writes them, labels sorted. */
export function seriesOf({ name, labels }: Omit<Sample, "value">): string {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${name}{${pairs.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(",")}}`;
}

/** Amounts by name of a process role. */
export type Amounts = Record<string, number>;

export const sum = (amounts: Amounts): number =>
  Object.values(amounts).reduce((total, one) => total + one, 0);

export const mapValues = <T>(from: Record<string, T>, to: (value: T) => number): Amounts =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value)]));

/** Increase since `before`, per unit. */
export const perUnit = (before: Amounts, after: Amounts, units: number): Amounts =>
  Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, (value - (before[name] ?? 0)) / units]),
  );

/** A name missing in one of them counts as 0 there. */
export function averageOf(all: readonly Amounts[]): Amounts {
  const names = [...new Set(all.flatMap((one) => Object.keys(one)))];
  return Object.fromEntries(
    names.map((name) => [
      name,
      all.reduce((total, one) => total + (one[name] ?? 0), 0) / all.length,
    ]),
  );
}

export const byProcess = (amounts: Amounts, divisor: number, digits: number): string =>
  Object.entries(amounts)
    .map(([name, value]) => `${name} ${(value / divisor).toFixed(digits)}`)
    .join(", ");

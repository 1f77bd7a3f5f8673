/** Amounts by name of a process role, a command or a system call. */
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

/** Largest first; amounts that round to zero are left out. */
export function byName(amounts: Amounts, digits: number): string {
  return Object.entries(amounts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, value]) => [name, value.toFixed(digits)] as const)
    .filter(([, text]) => Number(text) > 0)
    .map(([name, text]) => `${name} ${text}`)
    .join(", ");
}

export const byProcess = (amounts: Amounts, divisor: number, digits: number): string =>
  Object.entries(amounts)
    .map(([name, value]) => `${name} ${(value / divisor).toFixed(digits)}`)
    .join(", ");

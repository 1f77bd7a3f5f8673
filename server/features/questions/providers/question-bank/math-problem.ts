import type { Draft } from "./draft.ts";
import type { Random } from "./random.ts";

/** Makes one problem; called many times with different numbers. */
export type Maker = (random: Random) => Omit<Draft, "hardness">;

/** Wrong results a slip of the pen would give. */
function slips(right: number, others: readonly number[] = []): string[] {
  const near = [right + 1, right - 1, right + 2, right - 2, right + 10, right - 10, -right];
  const list = [...others, ...near].filter((value) => value !== right && Number.isInteger(value));
  const sameSign = right >= 0 ? list.filter((value) => value >= 0) : list;
  return [...new Set(sameSign)].slice(0, 5).map(String);
}

export function problem(
  question: string,
  right: number,
  explanation: string,
  others: readonly number[] = [],
) {
  return { question, answer: String(right), wrong: slips(right, others), explanation };
}

export const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
export const signed = (n: number) => (n < 0 ? `− ${-n}` : `+ ${n}`);

export function choosing(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i;
  return Math.round(result);
}

export function power(base: number, exponent: number, modulus: number): number {
  let result = 1;
  for (let i = 0; i < exponent; i++) result = (result * base) % modulus;
  return result;
}

export function totient(n: number): number {
  let count = 0;
  for (let i = 1; i <= n; i++) if (gcd(i, n) === 1) count++;
  return count;
}

/** A decimal number in the spelling of JSON, or with a plus; the exponent has few digits. */
const spelling = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Numbers of up to this many characters without an exponent are exact as doubles. */
const shortLength = 15;
const exponent = /[eE]/;

const isShort = (text: string) => text.length <= shortLength && !exponent.test(text);

/** Compares two decimal numbers by value, however long: negative when the first is smaller. */
export function compareDecimals(a: string, b: string): number {
  // Plus 0, because -0 less 0 is -0.
  if (isShort(a) && isShort(b)) return Number(a) - Number(b) + 0;
  const [x, y] = [readDecimal(a), readDecimal(b)];
  if (x.sign !== y.sign) return x.sign - y.sign;
  const size = x.magnitude - y.magnitude;
  if (size !== 0) return size * x.sign;
  return x.digits === y.digits ? 0 : x.digits < y.digits ? -x.sign : x.sign;
}

interface Decimal {
  sign: -1 | 0 | 1;
  /** Decimal exponent: the value is 0.<digits> times ten to this power. */
  magnitude: number;
  /** Without leading and trailing zeros, so that text order is the order of the values. */
  digits: string;
}

function readDecimal(text: string): Decimal {
  const [, sign, whole = "", part = "", power = "0"] = spelling.exec(text) ?? [];
  const all = whole + part;
  const first = all.search(/[1-9]/);
  if (first === -1) return { sign: 0, magnitude: 0, digits: "" };
  let end = all.length;
  while (all[end - 1] === "0") end--;
  return {
    sign: sign === "-" ? -1 : 1,
    magnitude: whole.length - first + Number(power),
    digits: all.slice(first, end),
  };
}

import type { Draft } from "../draft.ts";
import { between, createRandom, pick, type Random } from "../random.ts";

/** Makes one problem; called many times with different numbers. */
type Maker = (random: Random) => Omit<Draft, "hardness">;

/** Wrong results a slip of the pen would give. */
function slips(right: number, others: readonly number[] = []): string[] {
  const near = [right + 1, right - 1, right + 2, right - 2, right + 10, right - 10, -right];
  const list = [...others, ...near].filter((value) => value !== right && Number.isInteger(value));
  const sameSign = right >= 0 ? list.filter((value) => value >= 0) : list;
  return [...new Set(sameSign)].slice(0, 5).map(String);
}

function problem(
  question: string,
  right: number,
  explanation: string,
  others: readonly number[] = [],
) {
  return { question, answer: String(right), wrong: slips(right, others), explanation };
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
const signed = (n: number) => (n < 0 ? `− ${-n}` : `+ ${n}`);

function choosing(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i;
  return Math.round(result);
}

function power(base: number, exponent: number, modulus: number): number {
  let result = 1;
  for (let i = 0; i < exponent; i++) result = (result * base) % modulus;
  return result;
}

function totient(n: number): number {
  let count = 0;
  for (let i = 1; i <= n; i++) if (gcd(i, n) === 1) count++;
  return count;
}

const elementary: Maker[] = [
  (r) => {
    const [a, b] = [between(r, 3, 40), between(r, 3, 40)];
    return problem(
      `What is ${a} + ${b}?`,
      a + b,
      `${a} + ${b} = ${a + b}: add the tens first, then the ones.`,
    );
  },
  (r) => {
    const [b, c] = [between(r, 3, 30), between(r, 3, 30)];
    return problem(
      `What is ${b + c} − ${b}?`,
      c,
      `${b + c} − ${b} = ${c}, because ${c} + ${b} = ${b + c}.`,
    );
  },
  (r) => {
    const [a, b] = [between(r, 2, 10), between(r, 2, 10)];
    return problem(
      `What is ${a} × ${b}?`,
      a * b,
      `${a} times ${b} is ${a * b}; the order of the factors does not matter.`,
      [a * b + a, a * b - b],
    );
  },
];

const easy: Maker[] = [
  (r) => {
    const [a, b] = [between(r, 11, 25), between(r, 3, 9)];
    return problem(
      `What is ${a} × ${b}?`,
      a * b,
      `Split ${a} into tens and ones: 10 × ${b} + ${a - 10} × ${b} = ${a * b}.`,
      [a * b + b, a * b - b],
    );
  },
  (r) => {
    const [a, b] = [between(r, 3, 12), between(r, 3, 15)];
    return problem(
      `What is ${a * b} divided by ${a}?`,
      b,
      `${a} × ${b} = ${a * b}, so ${a * b} ÷ ${a} = ${b}.`,
    );
  },
  (r) => {
    const [w, h] = [between(r, 3, 15), between(r, 3, 15)];
    return problem(
      `What is the area, in square metres, of a rectangle ${w} m long and ${h} m wide?`,
      w * h,
      `Area is length times width: ${w} × ${h} = ${w * h}.`,
      [2 * (w + h)],
    );
  },
];

const middle: Maker[] = [
  (r) => {
    const percent = between(r, 1, 9) * 10;
    const whole = between(r, 3, 40) * 10;
    return problem(
      `What is ${percent} % of ${whole}?`,
      (percent * whole) / 100,
      `${percent} % means ${percent} of every hundred: ${percent} × ${whole} ÷ 100 = ${(percent * whole) / 100}.`,
      [whole - (percent * whole) / 100],
    );
  },
  (r) => {
    const [a, b, c] = [between(r, 2, 12), between(r, 2, 9), between(r, 2, 9)];
    return problem(
      `What is ${a} + ${b} × ${c}?`,
      a + b * c,
      `Multiplication comes first: ${b} × ${c} = ${b * c}, and ${a} more makes ${a + b * c}.`,
      [(a + b) * c],
    );
  },
  (r) => {
    const shared = between(r, 2, 9);
    const [x, y] = [between(r, 2, 9) * shared, between(r, 2, 9) * shared];
    const right = gcd(x, y);
    return problem(
      `What is the greatest common divisor of ${x} and ${y}?`,
      right,
      `${right} divides both ${x} and ${y}, and no larger number does.`,
      [(x * y) / right],
    );
  },
];

const high: Maker[] = [
  (r) => {
    const [a, x, b] = [between(r, 2, 9), between(r, -9, 12), between(r, 1, 20)];
    return problem(
      `Solve for x: ${a}x + ${b} = ${a * x + b}`,
      x,
      `Subtract ${b} from both sides and divide by ${a}: x = ${x}.`,
      [x + 3, -x],
    );
  },
  (r) => {
    const [m, n, k] = pick(r, [
      [3, 4, 5],
      [5, 12, 13],
      [8, 15, 17],
      [7, 24, 25],
      [20, 21, 29],
    ]);
    const s = between(r, 1, 6);
    return problem(
      `A right triangle has legs of ${m * s} and ${n * s}. How long is its hypotenuse?`,
      k * s,
      `By Pythagoras ${m * s}² + ${n * s}² = ${k * s}², so the hypotenuse is ${k * s}.`,
      [(m + n) * s],
    );
  },
  (r) => {
    const [p, q] = [between(r, 1, 9), between(r, 1, 9)];
    return problem(
      `What is the sum of the solutions of x² − ${p + q}x + ${p * q} = 0?`,
      p + q,
      `By Vieta the sum is ${p + q}; the solutions are ${p} and ${q}.`,
      [p * q, -(p + q)],
    );
  },
];

const medium: Maker[] = [
  (r) => {
    const [base, exponent] = [between(r, 2, 9), between(r, 2, 4)];
    const value = base ** exponent;
    return problem(
      `What is the logarithm of ${value} to the base ${base}?`,
      exponent,
      `${base} to the power ${exponent} is ${value}, so the logarithm is ${exponent}.`,
    );
  },
  (r) => {
    const [a, d, n] = [between(r, 1, 12), between(r, 2, 9), between(r, 8, 30)];
    const right = a + (n - 1) * d;
    return problem(
      `An arithmetic sequence starts with ${a} and grows by ${d} each time. What is its term number ${n}?`,
      right,
      `Term ${n} is ${a} + ${n - 1} × ${d} = ${right}.`,
      [a + n * d, right - d],
    );
  },
  (r) => {
    const [n, k] = [between(r, 5, 11), between(r, 2, 3)];
    const right = choosing(n, k);
    return problem(
      `In how many ways can ${k} of ${n} people be chosen, regardless of order?`,
      right,
      `The binomial coefficient “${n} over ${k}” is ${right}.`,
      [right * k, n * k],
    );
  },
];

const undergrad: Maker[] = [
  (r) => {
    const [a, n, x] = [between(r, 2, 9), between(r, 2, 4), between(r, 1, 3)];
    const right = a * n * x ** (n - 1);
    return problem(
      `What is the derivative of f(x) = ${a}x^${n} at x = ${x}?`,
      right,
      `f′(x) = ${a * n}x^${n - 1}, which is ${right} at x = ${x}.`,
      [a * x ** n, a * n * x ** n],
    );
  },
  (r) => {
    const [a, b, c, d] = [
      between(r, -5, 9),
      between(r, -5, 9),
      between(r, -5, 9),
      between(r, -5, 9),
    ];
    const right = a * d - b * c;
    return problem(
      `What is the determinant of the 2 × 2 matrix with rows (${a}, ${b}) and (${c}, ${d})?`,
      right,
      `It is ad − bc = ${a * d} − (${b * c}) = ${right}.`,
      [a * d + b * c, b * c - a * d],
    );
  },
  (r) => {
    const [a, b] = [between(r, 1, 6) * 2, between(r, 1, 6)];
    const right = (a * b * b) / 2;
    return problem(
      `What is the integral of ${a}x from 0 to ${b}?`,
      right,
      `An antiderivative is ${a / 2}x², which gives ${a / 2} × ${b}² = ${right}.`,
      [a * b, a * b * b],
    );
  },
];

const hard: Maker[] = [
  (r) => {
    const [base, exponent, modulus] = [
      between(r, 2, 9),
      between(r, 5, 30),
      pick(r, [7, 11, 13, 17]),
    ];
    const right = power(base, exponent, modulus);
    return problem(
      `What remains when ${base}^${exponent} is divided by ${modulus}?`,
      right,
      `Multiplying step by step and keeping remainders only gives ${right} (mod ${modulus}).`,
    );
  },
  (r) => {
    const n = between(r, 20, 120);
    const right = totient(n);
    return problem(
      `How many of the numbers from 1 to ${n} share no factor above 1 with ${n} (Euler's φ)?`,
      right,
      `Euler's totient of ${n} is ${right}.`,
      [n - right],
    );
  },
  (r) => {
    const [p, q, a] = [between(r, -6, 6), between(r, -6, 6), between(r, 1, 4)];
    const right = p * p + q * q;
    return problem(
      `What is the square of the absolute value of the complex number ${p} ${signed(q)}i, plus ${a}?`,
      right + a,
      `|z|² is ${p}² + (${q})² = ${right}; adding ${a} gives ${right + a}.`,
      [(p + q) ** 2 + a],
    );
  },
];

const masters: Maker[] = [
  (r) => {
    const [a, b, c] = [between(r, 1, 7), between(r, 1, 7), between(r, 1, 7)];
    const det = a * (b * c - 1) - c;
    return problem(
      `What is the determinant of the 3 × 3 matrix with rows (${a}, 1, 0), (1, ${b}, 1), (0, 1, ${c})?`,
      det,
      `Expanding by the first row: ${a}(${b} × ${c} − 1) − ${c} = ${det}.`,
      [a * b * c, a * b * c - a],
    );
  },
  (r) => {
    const [a, b] = [between(r, 3, 12), between(r, 3, 12)];
    const right = gcd(a, b) === 1 ? (a - 1) * (b - 1) : gcd(a, b);
    return gcd(a, b) === 1
      ? problem(
          `How many positive amounts cannot be paid exactly with coins of ${a} and ${b}?`,
          right / 2,
          `By Sylvester there are (${a} − 1)(${b} − 1) ÷ 2 = ${right / 2} of them.`,
          [a * b - a - b],
        )
      : problem(
          `How many elements has the subgroup of order dividing ${a} in the cyclic group of order ${b}?`,
          right,
          `The solutions of x^${a} = e in a cyclic group of order ${b} number gcd(${a}, ${b}) = ${right}.`,
          [a, b],
        );
  },
  (r) => {
    const [n, m] = [between(r, 3, 9), between(r, 2, 5)];
    return problem(
      `How many different mappings go from a set of ${m} to a set of ${n} elements?`,
      n ** m,
      `Each of the ${m} elements has ${n} images to choose from: ${n}^${m} = ${n ** m}.`,
      [m ** n, n * m],
    );
  },
];

const phd: Maker[] = [
  (r) => {
    const n = between(r, 4, 14);
    const right = choosing(2 * n, n) / (n + 1);
    return problem(
      `What is the Catalan number with index ${n}, where index 0 gives 1?`,
      right,
      `It is the binomial coefficient “${2 * n} over ${n}” divided by ${n + 1}: ${right}.`,
      [choosing(2 * n, n), choosing(2 * n - 2, n - 1) / n],
    );
  },
  (r) => {
    const [p, k] = [pick(r, [2, 3, 5, 7, 11, 13]), between(r, 2, 4)];
    const right = p ** k - p ** (k - 1);
    return problem(
      `How many units has the ring of integers modulo ${p ** k}?`,
      right,
      `φ(${p}^${k}) = ${p}^${k} − ${p}^${k - 1} = ${right}.`,
      [p ** k - 1, p ** (k - 1)],
    );
  },
  (r) => {
    const [g, h] = [between(r, 2, 9), between(r, 0, 3)];
    const right = 2 - 2 * g - h;
    return problem(
      `What is the Euler characteristic of an orientable surface of genus ${g} with ${h} boundary ${h === 1 ? "circle" : "circles"}?`,
      right,
      `It is 2 − 2g − b = 2 − ${2 * g} − ${h} = ${right}.`,
      [2 - g - h, 2 - 2 * g + h + 1, 2 * g - 2 + h],
    );
  },
];

const postdoc: Maker[] = [
  (r) => {
    const [q, n] = [pick(r, [2, 3, 4, 5, 7]), 2];
    const right = (q ** n - 1) * (q ** n - q);
    return problem(
      `What is the order of the general linear group GL(2, q) over the field with q = ${q} elements?`,
      right,
      `It is (q² − 1)(q² − q) = ${right} for q = ${q}.`,
      [right / (q - 1 || 1), q ** 4],
    );
  },
  (r) => {
    const n = between(r, 3, 8);
    const right = n ** (n - 2);
    return problem(
      `How many labelled trees are there on ${n} vertices?`,
      right,
      `Cayley's formula gives ${n}^${n - 2} = ${right}.`,
      [(n - 1) ** (n - 2), n ** (n - 1)],
    );
  },
  (r) => {
    const [d, n] = [between(r, 2, 12), between(r, 2, 4)];
    const right = choosing(n + d, d);
    return problem(
      `What is the dimension of the space of homogeneous polynomials of degree ${d} in ${n + 1} variables?`,
      right,
      `It is the binomial coefficient “${n + d} over ${d}”, which is ${right}.`,
      [choosing(n + d + 1, d), choosing(n + d - 1, d)],
    );
  },
  (r) => {
    const d = between(r, 3, 14);
    const right = ((d - 1) * (d - 2)) / 2;
    return problem(
      `What is the genus of a smooth plane projective curve of degree ${d} over the complex numbers?`,
      right,
      `The genus–degree formula gives (d − 1)(d − 2) ÷ 2 = ${right}.`,
      [(d * (d - 1)) / 2, (d - 1) * (d - 2)],
    );
  },
  (r) => {
    const [k, n] = [between(r, 2, 4), between(r, 5, 11)];
    const right = k * (n - k);
    return problem(
      `What is the dimension of the Grassmannian of ${k}-dimensional subspaces of an ${n}-dimensional space?`,
      right,
      `It is k(n − k) = ${k} × ${n - k} = ${right}.`,
      [k * n, choosing(n, k)],
    );
  },
];

const levels: readonly (readonly Maker[])[] = [
  elementary,
  easy,
  middle,
  high,
  medium,
  undergrad,
  hard,
  masters,
  phd,
  postdoc,
];

const perLevel = 40;
const triesPerLevel = 400;

/** As many problems for each level, so that the grading by rank gives each difficulty its own kind. */
export function draftMathematics(): Draft[] {
  return levels.flatMap((makers, level) => {
    const random = createRandom(`mathematics ${level}`);
    const found = new Map<string, Draft>();
    for (let i = 0; i < triesPerLevel && found.size < perLevel; i++) {
      const maker = makers[i % makers.length];
      if (maker === undefined) break;
      const draft = { ...maker(random), hardness: level };
      if (draft.wrong.length >= 3) found.set(draft.question, draft);
    }
    return [...found.values()];
  });
}

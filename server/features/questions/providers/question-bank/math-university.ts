import { between, pick } from "./random.ts";
import { problem, gcd, signed, choosing, power, totient, type Maker } from "./math-problem.ts";

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
      `For the complex number z = ${p} ${signed(q)}i, what is |z|² + ${a}?`,
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
          `In a cyclic group of order ${b} with unit e, how many elements x satisfy x^${a} = e?`,
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

/** From derivatives to geometry over fields, the easiest first. */
export const universityLevels: readonly (readonly Maker[])[] = [
  undergrad,
  hard,
  masters,
  phd,
  postdoc,
];

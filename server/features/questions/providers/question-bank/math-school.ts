import { between, pick } from "./random.ts";
import { problem, gcd, choosing, type Maker } from "./math-problem.ts";

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
    const p = between(r, 1, 9);
    const q = p + between(r, 1, 6);
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

/** From counting to combinations, the easiest first. */
export const schoolLevels: readonly (readonly Maker[])[] = [elementary, easy, middle, high, medium];

import { AppError } from "../core/errors.ts";

/** Name of a parameter -> the segments it takes; without a form it takes any. */
export type SegmentForms = Readonly<Record<string, RegExp>>;

interface Pattern<T> {
  /** Text to be met letter by letter, or what a parameter takes. */
  segments: readonly (string | RegExp)[];
  methods: Map<string, T>;
}

export interface Match<T> {
  /** Null when the path exists, but not with this method. */
  entry: T | null;
  params: string[];
  /** Methods the path answers. */
  allow: string[];
}

const anything = /^[^]+$/;

/** Finds the entry of a path: of the patterns that fit it, the first with the method. */
export class Router<T> {
  /** By number of segments; a literal segment is tried before a form, a form before any text. */
  private readonly patterns = new Map<number, Pattern<T>[]>();
  /** Of paths without parameters: nothing has to be tried. */
  private readonly exact = new Map<string, Pattern<T>>();
  private readonly takesBadEscapes: (entry: T) => boolean;

  constructor(takesBadEscapes: (entry: T) => boolean = () => false) {
    this.takesBadEscapes = takesBadEscapes;
  }

  /** Throws when the same method and path are declared twice. */
  add(method: string, path: string, entry: T, forms: SegmentForms = {}): void {
    const segments = path
      .slice(1)
      .split("/")
      .map((text) => (text.startsWith("{") ? (forms[text.slice(1, -1)] ?? anything) : text));
    const known = this.patterns.get(segments.length) ?? [];
    const pattern = known.find((one) => isSame(one.segments, segments)) ?? {
      segments,
      methods: new Map<string, T>(),
    };
    if (pattern.methods.has(method)) throw new Error(`${method} ${path} is declared twice`);
    pattern.methods.set(method, entry);
    const all = known.includes(pattern) ? known : [...known, pattern].sort(byRank);
    this.patterns.set(segments.length, all);
    if (!path.includes("{")) this.exact.set(path, pattern);
  }

  /**
   * Null for an unknown path. One trailing slash is ignored, percent escapes are decoded once
   * (HTTP-09); throws `request:malformed_url` for a bad escape, unless the entry takes it as it stands.
   */
  match(method: string, path: string): Match<T> | null {
    const exact = this.exact.get(path)?.methods.get(method);
    return exact === undefined ? this.find(method, path) : { entry: exact, params: [], allow: [] };
  }

  private find(method: string, path: string): Match<T> | null {
    const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    const raw = trimmed.slice(1).split("/");
    const decoded = raw.map(decodeSegment);
    const segments = decoded.map((text, i) => text ?? raw[i] ?? "");
    const fitting = (this.patterns.get(raw.length) ?? []).filter((one) => fits(one, segments));
    const found = fitting.find(({ methods }) => methods.has(method));
    const entry = found?.methods.get(method) ?? null;
    const isTaken = entry !== null && this.takesBadEscapes(entry);
    if (decoded.includes(null) && !isTaken) throw new AppError("request:malformed_url");
    if (fitting.length === 0) return null;
    if (entry === null) return { entry, params: [], allow: methodsOf(fitting) };
    const params = segments.filter((_, i) => typeof found?.segments[i] !== "string");
    return { entry, params, allow: [] };
  }
}

const methodsOf = (patterns: readonly Pattern<unknown>[]) => [
  ...new Set(patterns.flatMap(({ methods }) => [...methods.keys()])),
];

const isSame = (one: Pattern<unknown>["segments"], other: Pattern<unknown>["segments"]) =>
  one.every((segment, i) => String(segment) === String(other[i]));

const rankOf = (segment: string | RegExp | undefined) =>
  typeof segment === "string" ? 0 : segment === anything ? 2 : 1;

function byRank(one: Pattern<unknown>, other: Pattern<unknown>): number {
  const ranks = one.segments.map((segment, i) => rankOf(segment) - rankOf(other.segments[i]));
  return ranks.find((difference) => difference !== 0) ?? 0;
}

const fits = ({ segments }: Pattern<unknown>, given: readonly string[]) =>
  segments.every((one, i) => {
    const text = given[i] ?? "";
    return typeof one === "string" ? one === text : text !== "" && one.test(text);
  });

/** Null for a bad escape. */
function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

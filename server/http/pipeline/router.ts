import { AppError } from "../../platform/errors.ts";

/** Name of a parameter -> the segments it matches; without a form it matches any. */
export type SegmentForms = Readonly<Record<string, RegExp>>;

/** Node of the routing tree: the segments that may follow a path prefix. */
interface Node<T> {
  literals: Map<string, Node<T>>;
  /** Parameters by their form; a form is tried before `anything`. */
  parameters: { form: RegExp; next: Node<T> }[];
  /** Methods of the path that ends here. */
  methods: Map<string, T>;
}

export interface RouteMatch<T> {
  /** Null when the path exists, but not with this method. */
  entry: T | null;
  params: string[];
  /** Methods of the path, for the `Allow` header. */
  allow: string[];
}

const anything = /^[^]+$/;

/** Routing tree: finds the first matching pattern with the method. */
export class Router<T> {
  readonly #root = newNode<T>();
  readonly #takesBadEscapes: (entry: T) => boolean;

  constructor(takesBadEscapes: (entry: T) => boolean = () => false) {
    this.#takesBadEscapes = takesBadEscapes;
  }

  /** Throws when the same method and path are declared twice. */
  add(method: string, path: string, entry: T, forms: SegmentForms = {}): void {
    let node = this.#root;
    for (const text of path.slice(1).split("/"))
      node = text.startsWith("{")
        ? parameterOf(node, forms[text.slice(1, -1)] ?? anything)
        : literalOf(node, text);
    if (node.methods.has(method)) throw new Error(`${method} ${path} is declared twice`);
    node.methods.set(method, entry);
  }

  /**
   * Null for an unknown path. One trailing slash is ignored, percent escapes are decoded once
   * (HTTP-09); throws `request:malformed_url` for a bad escape, unless the route has a lenient path.
   */
  match(method: string, path: string): RouteMatch<T> | null {
    const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    const segments = trimmed.slice(1).split("/");
    let hasBadEscape = false;
    for (const [i, raw] of segments.entries()) {
      const text = raw.includes("%") ? decodeSegment(raw) : raw;
      hasBadEscape ||= text === null;
      segments[i] = text ?? raw;
    }
    const otherMethods: Map<string, T>[] = [];
    const params: string[] = [];
    const entry = find(this.#root, { segments, method, params, otherMethods }, 0);
    const isTaken = entry !== null && this.#takesBadEscapes(entry);
    if (hasBadEscape && !isTaken) throw new AppError("request:malformed_url");
    if (entry !== null) return { entry, params, allow: [] };
    return otherMethods.length === 0 ? null : { entry, params, allow: methodsOf(otherMethods) };
  }
}

/** State of a search in the routing tree. */
interface Search<T> {
  segments: readonly string[];
  method: string;
  /** Parameters of the current pattern; at the end those of the matched one. */
  params: string[];
  /** Methods of patterns that match the path but not the method. */
  otherMethods: Map<string, T>[];
}

/** Literals are tried before forms, and forms before any text, segment by segment. */
function find<T>(node: Node<T>, search: Search<T>, at: number): T | null {
  const { segments, method, params, otherMethods } = search;
  const text = segments[at];
  if (text === undefined) {
    if (node.methods.size === 0) return null;
    const entry = node.methods.get(method) ?? null;
    if (entry === null) otherMethods.push(node.methods);
    return entry;
  }
  const literal = node.literals.get(text);
  const found = literal === undefined ? null : find(literal, search, at + 1);
  if (found !== null) return found;
  for (const { form, next } of node.parameters) {
    if (text === "" || !form.test(text)) continue;
    params.push(text);
    const entry = find(next, search, at + 1);
    if (entry !== null) return entry;
    params.pop();
  }
  return null;
}

const newNode = <T>(): Node<T> => ({ literals: new Map(), parameters: [], methods: new Map() });

function literalOf<T>({ literals }: Node<T>, text: string): Node<T> {
  const next = literals.get(text) ?? newNode<T>();
  literals.set(text, next);
  return next;
}

function parameterOf<T>({ parameters }: Node<T>, form: RegExp): Node<T> {
  const known = parameters.find((one) => String(one.form) === String(form));
  if (known !== undefined) return known.next;
  const next = newNode<T>();
  if (form === anything) parameters.push({ form, next });
  else parameters.unshift({ form, next });
  return next;
}

const methodsOf = (otherMethods: readonly Map<string, unknown>[]) => [
  ...new Set(otherMethods.flatMap((methods) => [...methods.keys()])),
];

/** Null for a bad escape. */
function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

import { AppError } from "../../platform/errors.ts";

/** Name of a parameter -> the segments it takes; without a form it takes any. */
export type SegmentForms = Readonly<Record<string, RegExp>>;

/** What may follow a beginning of paths, one segment further. */
interface Node<T> {
  literals: Map<string, Node<T>>;
  /** Parameters, by what they take; a form is tried before `anything`. */
  parameters: { form: RegExp; next: Node<T> }[];
  /** Of the paths that end here. */
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
  private readonly root = newNode<T>();
  private readonly takesBadEscapes: (entry: T) => boolean;

  constructor(takesBadEscapes: (entry: T) => boolean = () => false) {
    this.takesBadEscapes = takesBadEscapes;
  }

  /** Throws when the same method and path are declared twice. */
  add(method: string, path: string, entry: T, forms: SegmentForms = {}): void {
    let node = this.root;
    for (const text of path.slice(1).split("/"))
      node = text.startsWith("{")
        ? parameterOf(node, forms[text.slice(1, -1)] ?? anything)
        : literalOf(node, text);
    if (node.methods.has(method)) throw new Error(`${method} ${path} is declared twice`);
    node.methods.set(method, entry);
  }

  /**
   * Null for an unknown path. One trailing slash is ignored, percent escapes are decoded once
   * (HTTP-09); throws `request:malformed_url` for a bad escape, unless the entry takes it as it stands.
   */
  match(method: string, path: string): Match<T> | null {
    const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    const segments = trimmed.slice(1).split("/");
    let hasBadEscape = false;
    for (const [i, raw] of segments.entries()) {
      const text = raw.includes("%") ? decodeSegment(raw) : raw;
      hasBadEscape ||= text === null;
      segments[i] = text ?? raw;
    }
    const fitting: Map<string, T>[] = [];
    const params: string[] = [];
    const entry = find(this.root, { segments, method, params, fitting }, 0);
    const isTaken = entry !== null && this.takesBadEscapes(entry);
    if (hasBadEscape && !isTaken) throw new AppError("request:malformed_url");
    if (entry !== null) return { entry, params, allow: [] };
    return fitting.length === 0 ? null : { entry, params, allow: methodsOf(fitting) };
  }
}

/** A path that is looked for, and what was found of it so far. */
interface Search<T> {
  segments: readonly string[];
  method: string;
  /** Of the pattern that is tried; those of the entry at the end. */
  params: string[];
  /** Methods of the patterns that fit the path, but not the method. */
  fitting: Map<string, T>[];
}

/** Literals are tried before forms, and forms before any text, segment by segment. */
function find<T>(node: Node<T>, search: Search<T>, at: number): T | null {
  const { segments, method, params, fitting } = search;
  const text = segments[at];
  if (text === undefined) {
    if (node.methods.size === 0) return null;
    const entry = node.methods.get(method) ?? null;
    if (entry === null) fitting.push(node.methods);
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

const methodsOf = (fitting: readonly Map<string, unknown>[]) => [
  ...new Set(fitting.flatMap((methods) => [...methods.keys()])),
];

/** Null for a bad escape. */
function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

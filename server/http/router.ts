import { AppError } from "../core/errors.ts";

/** What a path leads to: a handler per method. */
interface Leaf<T> {
  methods: Map<string, T>;
}

/** Name of a parameter -> the segments it takes; without a form it takes any. */
export type SegmentForms = Readonly<Record<string, RegExp>>;

interface TreeNode<T> {
  literals: Map<string, TreeNode<T>>;
  /** Parameters that take segments of a form only; they win over `param`. */
  formed: { form: RegExp; node: TreeNode<T> }[];
  param: TreeNode<T> | null;
  leaf: Leaf<T> | null;
}

export interface Match<T> {
  /** Null when the path exists, but not with this method. */
  entry: T | null;
  params: string[];
  /** Methods the path answers. */
  allow: string[];
}

const noParams: string[] = [];
const createNode = <T>(): TreeNode<T> => ({
  literals: new Map(),
  formed: [],
  param: null,
  leaf: null,
});

/** Finds the entry of a path: exact paths by one lookup, the others segment by segment. */
export class Router<T> {
  private readonly exact = new Map<string, Leaf<T>>();
  private readonly root = createNode<T>();
  private readonly takesBadEscapes: (entry: T) => boolean;

  constructor(takesBadEscapes: (entry: T) => boolean = () => false) {
    this.takesBadEscapes = takesBadEscapes;
  }

  /** Throws when the same method and path are declared twice. */
  add(method: string, pattern: string, entry: T, forms: SegmentForms = {}): void {
    let node = this.root;
    for (const segment of pattern.slice(1).split("/")) node = childOf(node, segment, forms);
    node.leaf ??= { methods: new Map() };
    if (node.leaf.methods.has(method)) throw new Error(`${method} ${pattern} is declared twice`);
    node.leaf.methods.set(method, entry);
    if (!pattern.includes("{")) this.exact.set(pattern, node.leaf);
  }

  /**
   * Null for an unknown path. One trailing slash is ignored, percent escapes are decoded once
   * (HTTP-09); throws `request:malformed_url` for a bad escape, unless the entry takes it as it stands.
   */
  match(method: string, path: string): Match<T> | null {
    const exact = this.exact.get(path)?.methods.get(method);
    return exact === undefined ? this.find(method, path) : matchOf(exact, noParams);
  }

  private find(method: string, path: string): Match<T> | null {
    const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    const segments = trimmed.slice(1).split("/");
    if (!trimmed.includes("%")) return this.walk(method, segments);
    const decoded = segments.map(decodeSegment);
    const found = this.walk(
      method,
      decoded.map((text, i) => text ?? segments[i] ?? ""),
    );
    const isTaken = found?.entry != null && this.takesBadEscapes(found.entry);
    if (decoded.includes(null) && !isTaken) throw new AppError("request:malformed_url");
    return found;
  }

  private walk(method: string, segments: string[]): Match<T> | null {
    const params: string[] = [];
    const entry = descend(this.root, segments, 0, method, params, null);
    if (entry !== null) return matchOf(entry, params);
    const allow = new Set<string>();
    descend(this.root, segments, 0, method, [], allow);
    if (allow.size === 0) return null;
    return { entry: null, params: noParams, allow: [...allow] };
  }
}

const matchOf = <T>(entry: T, params: string[]): Match<T> => ({
  entry,
  params,
  allow: noParams,
});

function childOf<T>(node: TreeNode<T>, segment: string, forms: SegmentForms): TreeNode<T> {
  if (segment.startsWith("{")) {
    const form = forms[segment.slice(1, -1)];
    if (form !== undefined) return formedChildOf(node, form);
    node.param ??= createNode<T>();
    return node.param;
  }
  const known = node.literals.get(segment);
  if (known) return known;
  const created = createNode<T>();
  node.literals.set(segment, created);
  return created;
}

function formedChildOf<T>(node: TreeNode<T>, form: RegExp): TreeNode<T> {
  const known = node.formed.find((one) => one.form.source === form.source);
  if (known) return known.node;
  const created = createNode<T>();
  node.formed.push({ form, node: created });
  return created;
}

/** Literal segments win over parameters; the walk returns when one has no such method. */
function descend<T>(
  node: TreeNode<T>,
  segments: string[],
  depth: number,
  method: string,
  params: string[],
  allow: Set<string> | null,
): T | null {
  const segment = segments[depth];
  if (segment === undefined) {
    if (allow !== null) for (const name of node.leaf?.methods.keys() ?? []) allow.add(name);
    return node.leaf?.methods.get(method) ?? null;
  }
  const literal = node.literals.get(segment);
  const found = literal ? descend(literal, segments, depth + 1, method, params, allow) : null;
  if (found !== null) return found;
  if (segment === "") return null;
  for (const { form, node: child } of node.formed) {
    if (!form.test(segment)) continue;
    const behind = descendInto(child, segments, depth, method, params, allow);
    if (behind !== null) return behind;
  }
  return node.param && descendInto(node.param, segments, depth, method, params, allow);
}

/** The same below a parameter, which takes the segment. */
function descendInto<T>(
  child: TreeNode<T>,
  segments: string[],
  depth: number,
  method: string,
  params: string[],
  allow: Set<string> | null,
): T | null {
  params.push(segments[depth] ?? "");
  const behind = descend(child, segments, depth + 1, method, params, allow);
  if (behind === null) params.pop();
  return behind;
}

/** Null for a bad escape. */
function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

import type { AnyRoute } from "../../server/http/pipeline/route.ts";

/** A question whose answer is still secret. */
export interface Secret {
  id: number;
  question: string;
  /** 32 hexadecimal digits that occur only in this question's explanation. */
  canary: string;
}

/** Fields that would reveal the correct choice. */
const explanatory = new Set([
  "correct_index",
  "answer",
  "correct",
  "right",
  "answer_salt",
  "is_correct",
]);

/** Secrets by every text that could reveal them. */
export interface Secrets {
  byId: ReadonlyMap<unknown, Secret>;
  byQuestion: ReadonlyMap<unknown, Secret>;
  byCanary: ReadonlyMap<string, Secret>;
}

export const secretsOf = (list: readonly Secret[]): Secrets => ({
  byId: new Map(list.map((one) => [one.id, one])),
  byQuestion: new Map(list.map((one) => [one.question, one])),
  byCanary: new Map(list.map((one) => [one.canary, one])),
});

/** The part of a response that reveals a secret, or null. */
export function leakOf(text: string, json: unknown, secrets: Secrets): string | null {
  for (const [word] of text.matchAll(/[0-9a-f]{32}/g)) {
    const explained = secrets.byCanary.get(word);
    if (explained) return `the explanation of question ${explained.id}`;
  }
  return findExplained(json, secrets);
}

function findExplained(value: unknown, secrets: Secrets): string | null {
  if (Array.isArray(value)) return firstOf(value.map((item) => findExplained(item, secrets)));
  if (typeof value !== "object" || value === null) return null;
  const fields = Object.entries(value);
  const explained = fields.find(([name, field]) => explanatory.has(name) && field !== null);
  for (const [name, field] of explained ? fields : []) {
    const isId = /^(?:question_)?id$/.test(name);
    const about = isId
      ? secrets.byId.get(field)
      : name === "question"
        ? secrets.byQuestion.get(field)
        : undefined;
    if (about) return `${explained?.[0]} of question ${about.id}`;
  }
  return firstOf(fields.map(([, field]) => findExplained(field, secrets)));
}

const firstOf = (list: (string | null)[]) => list.find((one) => one !== null) ?? null;

interface Shape {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Shape[];
  const?: unknown;
  properties?: Record<string, Shape>;
}

/**
 * Requests that use `id` in every place a declaration allows: the id for every number, and fitting words
 * elsewhere. One request for each value of the first enumeration in a body.
 */
export function requestsFor(route: AnyRoute, id: number, words: Readonly<Record<string, string>>) {
  const valueOf = (name: string, shape: Shape): unknown => {
    if (name === "selected_index") return 0;
    if (words[name] !== undefined) return words[name];
    if (shape.enum) return shape.enum[0];
    if (shape.const !== undefined) return shape.const;
    const types = [shape.type ?? shape.anyOf?.map((one) => one.type ?? "string") ?? "string"].flat(
      2,
    );
    if (types.includes("integer") || types.includes("number")) return name.endsWith("id") ? id : 20;
    if (types.includes("boolean")) return true;
    return types.includes("array") ? [] : "art";
  };
  const fieldsOf = (schema: unknown) =>
    Object.entries((schema as Shape | undefined)?.properties ?? {}).map(
      ([name, shape]) => [name, shape, valueOf(name, shape)] as const,
    );
  const path = route.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(words[name] ?? String(id)),
  );
  const query = new URLSearchParams(
    fieldsOf(route.query).map(([name, , value]) => [name, String(value)]),
  );
  const fields = fieldsOf(route.body);
  const body = Object.fromEntries(fields.map(([name, , value]) => [name, value]));
  const [choiceName, choices = [undefined]] =
    fields.flatMap(([name, shape]) => (shape.enum ? [[name, shape.enum] as const] : []))[0] ?? [];
  return choices.map((choice) => ({
    method: route.method,
    path: route.query ? `${path}?${query}` : path,
    body: choiceName === undefined ? body : { ...body, [choiceName]: choice },
  }));
}

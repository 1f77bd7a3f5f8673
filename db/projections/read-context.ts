import type { EntityManager } from "@mikro-orm/postgresql";
import type { StateAt } from "../queries/archive/codex-states.ts";
import {
  readAllTexts,
  readIcons,
  readSources,
  readTexts,
} from "../queries/gamedata/projection-sources.ts";
import { project, stateText, type Projected } from "./project.ts";
import type { Resource } from "./resource.ts";
import {
  hasRequiredInputs,
  noRequiredInputs,
  type Icon,
  type Localized,
  type Source,
  type RequiredInputs,
} from "./source.ts";

/** Maximum length of a chain of references of a row, for example quest -> reward. */
const maxDepth = 8;

/** Every text of a state, held in memory. */
export class AllTexts {
  readonly #byLocale: readonly [string, Readonly<Record<string, string>>][];
  readonly #known = new Map<string, Localized | null>();

  constructor(byLocale: readonly [string, Readonly<Record<string, string>>][]) {
    this.#byLocale = byLocale;
  }

  get(key: string): Localized | null {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = this.#byLocale.flatMap(([locale, texts]) => {
      const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
      return text === undefined || text === "" ? [] : [[locale, text] as const];
    });
    const localized = found.length === 0 ? null : Object.fromEntries(found);
    this.#known.set(key, localized);
    return localized;
  }
}

/** Reads a state of a game on demand, as far as rows require it. */
export class StateReader {
  readonly #em: EntityManager;
  readonly #gameId: number;
  readonly #state: StateAt;
  /** Languages whose texts are read; null = all. */
  readonly #locales: readonly string[] | null;
  readonly #context: {
    entities: Map<string, Source | null>;
    texts: { get(key: string): Localized | null | undefined };
    icons: Map<string, Icon | null>;
  };

  constructor(
    em: EntityManager,
    gameId: number,
    state: StateAt,
    locales: readonly string[] | null = null,
  ) {
    this.#em = em;
    this.#gameId = gameId;
    this.#state = state;
    this.#locales = locales;
    this.#context = { entities: new Map(), texts: new Map(), icons: new Map() };
  }

  /** Reads every text at once; pays off for many rows. */
  async takeAllTexts(): Promise<void> {
    if (this.#context.texts instanceof AllTexts) return;
    this.#context.texts = new AllTexts(await readAllTexts(this.#em, this.#state));
  }

  textOf(key: string): Localized | null {
    return this.#context.texts.get(key) ?? null;
  }

  /** Identifies the state of an entity read since `clear`. */
  stateOf(id: string): string | undefined {
    const source = this.#context.entities.get(id);
    return source == null ? undefined : stateText(source);
  }

  /** Loads these texts for `textOf`. */
  async readTexts(keys: readonly string[]): Promise<void> {
    const { texts } = this.#context;
    const missing = keys.filter((key) => texts.get(key) === undefined);
    await this.#fill({ ...noRequiredInputs(), texts: new Set(missing) });
  }

  /** Drops cached entities, which bounds memory. */
  clear(): void {
    this.#context.entities.clear();
  }

  /** Projects those ids that exist in the state and belong to the resource. */
  async project(resource: Resource, ids: readonly string[]): Promise<Projected[]> {
    const required = noRequiredInputs();
    for (const id of ids) if (!this.#context.entities.has(id)) required.entities.add(id);
    await this.#fill(required);
    const sources = ids.flatMap((id) => {
      const source = this.#context.entities.get(id);
      return source == null || source.hash === null || source.type !== resource.type
        ? []
        : [source];
    });
    for (let depth = 0; depth < maxDepth; depth++) {
      const missing = noRequiredInputs();
      const rows = sources.map((source) => project(resource, source, this.#context, missing));
      if (!hasRequiredInputs(missing)) return rows;
      await this.#fill(missing);
    }
    throw new Error(`rows of ${resource.path} follow more than ${maxDepth} references`);
  }

  async #fill({ entities, texts, icons }: RequiredInputs): Promise<void> {
    const em = this.#em;
    const gameId = this.#gameId;
    const state = this.#state;
    const context = this.#context;
    for (const id of entities) context.entities.set(id, null);
    for (const source of await readSources(em, gameId, state, [...entities]))
      context.entities.set(source.id, source);
    const found = await readIcons(em, [...icons]);
    for (const hash of icons) context.icons.set(hash, found.get(hash) ?? null);
    if (texts.size === 0 || !(context.texts instanceof Map)) return;
    const localized = await readTexts(em, state, [...texts], this.#locales);
    for (const key of texts) context.texts.set(key, localized.get(key) ?? null);
  }
}

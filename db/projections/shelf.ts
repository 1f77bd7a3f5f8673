import type { EntityManager } from "@mikro-orm/postgresql";
import type { StateAt } from "../queries/archive/codex-import.ts";
import {
  readAllTexts,
  readIcons,
  readSources,
  readTexts,
} from "../queries/gamedata/projection-sources.ts";
import { project, stateText, type Projected } from "./project.ts";
import type { Resource } from "./resource.ts";
import { hasWants, noWants, type Icon, type Localized, type Source, type Wants } from "./source.ts";

/** References a row may follow one after the other: quest -> reward is one. */
const maxDepth = 8;

/** Every text of a state, held in memory. */
export class AllTexts {
  private readonly byLocale: readonly [string, Readonly<Record<string, string>>][];
  private readonly known = new Map<string, Localized | null>();

  constructor(byLocale: readonly [string, Readonly<Record<string, string>>][]) {
    this.byLocale = byLocale;
  }

  get(key: string): Localized | null {
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const found = this.byLocale.flatMap(([locale, texts]) => {
      const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
      return text === undefined || text === "" ? [] : [[locale, text] as const];
    });
    const localized = found.length === 0 ? null : Object.fromEntries(found);
    this.known.set(key, localized);
    return localized;
  }
}

/** One state of a game, read as far as rows ask for it. */
export class StateReader {
  private readonly em: EntityManager;
  private readonly gameId: number;
  private readonly state: StateAt;
  /** Languages whose texts are read; null for all. */
  private readonly locales: readonly string[] | null;
  private readonly shelf: {
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
    this.em = em;
    this.gameId = gameId;
    this.state = state;
    this.locales = locales;
    this.shelf = { entities: new Map(), texts: new Map(), icons: new Map() };
  }

  /** Reads every text at once: for many rows. */
  async takeAllTexts(): Promise<void> {
    if (this.shelf.texts instanceof AllTexts) return;
    this.shelf.texts = new AllTexts(await readAllTexts(this.em, this.state));
  }

  textOf(key: string): Localized | null {
    return this.shelf.texts.get(key) ?? null;
  }

  /** Names the state of an entity that a row was made from since `clear`. */
  stateOf(id: string): string | undefined {
    const source = this.shelf.entities.get(id);
    return source == null ? undefined : stateText(source);
  }

  /** Has these texts at hand for `textOf`. */
  async readTexts(keys: readonly string[]): Promise<void> {
    const { texts } = this.shelf;
    const missing = keys.filter((key) => texts.get(key) === undefined);
    await this.fill({ ...noWants(), texts: new Set(missing) });
  }

  /** Forgets entities, so that a whole game does not lie in memory. */
  clear(): void {
    this.shelf.entities.clear();
  }

  /** The rows of those ids that exist in the state and are of the resource. */
  async project(resource: Resource, ids: readonly string[]): Promise<Projected[]> {
    const wants = noWants();
    for (const id of ids) if (!this.shelf.entities.has(id)) wants.entities.add(id);
    await this.fill(wants);
    const sources = ids.flatMap((id) => {
      const source = this.shelf.entities.get(id);
      return source == null || source.hash === null || source.type !== resource.type
        ? []
        : [source];
    });
    for (let depth = 0; depth < maxDepth; depth++) {
      const missing = noWants();
      const rows = sources.map((source) => project(resource, source, this.shelf, missing));
      if (!hasWants(missing)) return rows;
      await this.fill(missing);
    }
    throw new Error(`rows of ${resource.path} follow more than ${maxDepth} references`);
  }

  private async fill({ entities, texts, icons }: Wants): Promise<void> {
    const { em, gameId, state, shelf } = this;
    for (const id of entities) shelf.entities.set(id, null);
    for (const source of await readSources(em, gameId, state, [...entities]))
      shelf.entities.set(source.id, source);
    const found = await readIcons(em, [...icons]);
    for (const hash of icons) shelf.icons.set(hash, found.get(hash) ?? null);
    if (texts.size === 0 || !(shelf.texts instanceof Map)) return;
    const localized = await readTexts(em, state, [...texts], this.locales);
    for (const key of texts) shelf.texts.set(key, localized.get(key) ?? null);
  }
}

import type { ImportEnvelope, SourceEntity } from "../../envelope/contract.ts";
import { defineAdapter } from "../adapter.ts";
import {
  isFields,
  listOf,
  rowsOf,
  snakeFields,
  textOf,
  textsOf,
  titleOf,
  without,
  type Fields,
} from "../fields.ts";
import { findSnapshots, type Snapshot } from "./source.ts";

/** The game of the public package `dotaconstants`: one patch per installed version. */
export const dota = defineAdapter({
  game: "dota",
  async *read(folder) {
    for (const snapshot of await findSnapshots(folder)) yield await envelopeOf(snapshot);
  },
});

async function envelopeOf(snapshot: Snapshot): Promise<ImportEnvelope> {
  const { version, canonical, released, read } = snapshot;
  const files = new Map<string, Fields>();
  for (const name of ["heroes", "items", "abilities", "hero_abilities", "hero_lore"]) {
    const content = await read(name);
    files.set(name, isFields(content) ? content : {});
  }
  const file = (name: string) => files.get(name) ?? {};
  const entities = [
    ...rowsOf(file("heroes")).map((row) => heroEntity(row, file)),
    ...namedRows(file("items")).map(([name, row]) => itemEntity(name, row, file("items"))),
    ...namedRows(file("abilities")).map(([name, row]) => abilityEntity(name, row)),
  ];
  return {
    name: `dota ${version}`,
    header: {
      format: 1,
      game: { slug: "dota", display_name: "Dota 2" },
      branch: { slug: "main" },
      patch: { version_raw: version, canonical, released_at: released },
    },
    assets: [],
    locales: {},
    hasSnakeKeys: true,
    entityCount: entities.length,
    entities: () => entities,
    readAsset: () => Promise.reject(new Error("is not there")),
  };
}

const namedRows = (content: Fields): [name: string, row: Fields][] =>
  Object.entries(content).flatMap(([name, row]) => (isFields(row) ? [[name, row]] : []));

/** Left out of `data`: numbers that change with each release, and names, which are members of the entity. */
const excluded = new Set(["id", "localized_name", "dname", "desc", "name"]);

function describe(type: string, slug: string, upstreamKey: string, row: Fields, extra: Fields) {
  const data = { ...without(row, excluded), ...withoutNulls(extra) };
  return {
    id: `id.${type}.${slug}`,
    upstream_key: upstreamKey,
    type,
    name: textOf(row["localized_name"]) ?? textOf(row["dname"]) ?? titleOf(slug),
    data: snakeFields(withoutTimestamps(data)) as Record<string, unknown>,
  };
}

const withoutNulls = (row: Fields) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

/** Removes the time stamp from picture addresses, which changes without a new picture. */
function withoutTimestamps(row: Fields): Fields {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      (name === "img" || name === "icon") && typeof value === "string"
        ? value.replace(/\?.*$/, "")
        : value,
    ]),
  );
}

function heroEntity(row: Fields, file: (name: string) => Fields): SourceEntity {
  const name = textOf(row["name"]) ?? "";
  const slug = name.replace(/^npc_dota_hero_/, "");
  const abilities = file("hero_abilities")[name];
  const known = isFields(abilities) ? textsOf(abilities["abilities"]) : [];
  return {
    ...describe("hero", slug, name, row, {
      description: textOf(file("hero_lore")[slug]),
      talents: isFields(abilities) ? (abilities["talents"] ?? null) : null,
    }),
    tags: [...textsOf(row["roles"]), textOf(row["primary_attr"])].filter((tag) => tag !== null),
    links: known
      .filter((ability) => Object.hasOwn(file("abilities"), ability))
      .map((ability) => ({ rel: "ability", target: `id.ability.${ability}` })),
  };
}

function itemEntity(name: string, row: Fields, items: Fields): SourceEntity {
  const descriptions = [
    ...listOf(row["hint"]),
    ...rowsOf(row["abilities"]).map((one) => one["description"]),
  ];
  const parts = new Set(textsOf(row["components"]).filter((part) => Object.hasOwn(items, part)));
  return {
    ...describe("item", name, `item_${name}`, row, {
      description: descriptions.find((one) => typeof one === "string") ?? null,
    }),
    tags: [textOf(row["qual"])].filter((tag) => tag !== null),
    links: [...parts].map((part) => ({ rel: "component", target: `id.item.${part}` })),
  };
}

function abilityEntity(name: string, row: Fields): SourceEntity {
  const behavior = row["behavior"];
  return {
    ...describe("ability", name, name, row, { description: textOf(row["desc"]) }),
    tags: typeof behavior === "string" ? [behavior] : textsOf(behavior),
  };
}

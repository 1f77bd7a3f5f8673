import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { eventually } from "../support/eventually.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const agent = pathToFileURL(join(import.meta.dirname, "agent.mjs")).href;

/** A function that ran, as `file name offset`: the offset tells functions without a name apart. */
type Ran = ReadonlySet<string>;

/** What `agent.mjs` writes. */
type Entry = [url: string, name: string, offset: number];

/** Functions that ran in the processes of a service, from their sources. */
export class Coverage {
  readonly #folder: string;
  readonly #taken = new Map<number, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Environment of the service. */
  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--import=${agent}`, WALKS_DIR: this.#folder };
  }

  /** The functions that ran in these processes since the last call; a process that has ended gives none. */
  async take(pids: readonly number[]): Promise<Set<string>> {
    const parts = await Promise.all(pids.map((pid) => this.#takeFrom(pid)));
    return new Set(parts.flat());
  }

  async #takeFrom(pid: number): Promise<string[]> {
    const number = (this.#taken.get(pid) ?? 0) + 1;
    this.#taken.set(pid, number);
    const file = join(this.#folder, `${pid}-${number}.json`);
    process.kill(pid, "SIGUSR2");
    await eventually(`process ${pid} has reported what ran`, async () => existsSync(file));
    const entries = JSON.parse(readFileSync(file, "utf8")) as Entry[];
    return entries.map(([url, name, offset]) => {
      const path = relative(root, fileURLToPath(url.replace(/\?.*$/, "")));
      return [path, name, offset].join(" ");
    });
  }
}

export const minus = (ran: Ran, control: Ran): Ran =>
  new Set([...ran].filter((one) => !control.has(one)));

/** What ran every time: a timer that fires once in a while is not part of a walk. */
export const inAll = (all: readonly Ran[]): Ran =>
  new Set([...(all[0] ?? [])].filter((one) => all.every((ran) => ran.has(one))));

/** File -> names of its functions, in the order of the file; one without a name is "(function)". */
export function byFile(ran: Ran): Map<string, string[]> {
  const entries = [...ran].map((one) => {
    const [file = "", name = "", offset = ""] = one.split(" ");
    return { file, name: name || "(function)", offset: Number(offset) };
  });
  entries.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.offset - b.offset));
  const files = new Map<string, string[]>();
  for (const { file, name } of entries) files.set(file, [...(files.get(file) ?? []), name]);
  return files;
}

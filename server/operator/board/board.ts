import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import type { Job, Queue } from "bullmq";
import type { JobTimes } from "../../platform/job-times/store.ts";
import { maskData } from "../../platform/text/masking.ts";
import { findJob } from "../jobs/service.ts";
import { createHistory } from "./history.ts";
import { boardPath } from "./paths.ts";

/** The package exports one function; its other types are those of the parameters. */
type ServerAdapter = Parameters<typeof createBullBoard>[0]["serverAdapter"];
type FirstOf<M extends keyof ServerAdapter> = Parameters<ServerAdapter[M]>[0];
type View = FirstOf<"setEntryRoute">;
export type BoardRoute = FirstOf<"setApiRoutes">[number];
export type BoardRequest = NonNullable<Parameters<BoardRoute["handler"]>[0]>;
export type BoardAnswer = Awaited<ReturnType<BoardRoute["handler"]>>;

/** What the package hands to a server: its routes, pages and files. */
export interface Board {
  queues: FirstOf<"setQueues">;
  uiConfig: FirstOf<"setUIConfig">;
  api: readonly BoardRoute[];
  onError: FirstOf<"setErrorHandler">;
  view: View;
  viewsDir: string;
  staticDir: string;
}

/** With `isReadOnly` the board shows no button that changes anything. */
export function createBoard(
  queues: readonly Queue[],
  times: Pick<JobTimes, "series">,
  isReadOnly: boolean,
): Board {
  const parts: Partial<Board> = {};
  const set = (part: Partial<Board>): ServerAdapter => {
    Object.assign(parts, part);
    return adapter;
  };
  const adapter: ServerAdapter = {
    setQueues: (all) => set({ queues: all }),
    setViewsPath: (viewsDir) => set({ viewsDir }),
    setStaticPath: (_route, staticDir) => set({ staticDir }),
    setEntryRoute: (view) => set({ view }),
    setErrorHandler: (onError) => set({ onError }),
    setApiRoutes: (api) => set({ api }),
    setUIConfig: (uiConfig) => set({ uiConfig }),
  };
  const uiBasePath = dirname(createRequire(import.meta.url).resolve("@bull-board/ui/package.json"));
  createBullBoard({
    queues: queues.map((queue) => new MaskedQueue(queue, isReadOnly)),
    serverAdapter: adapter,
    options: {
      uiBasePath,
      uiConfig: { boardTitle: "Queues", hideDocsLink: true },
      historyProvider: createHistory(times),
    },
  });
  return parts as Board;
}

/** Masks personal data and secrets in jobs, as the endpoints do (OPS-03). */
class MaskedQueue extends BullMQAdapter {
  readonly #queue: Queue;

  constructor(queue: Queue, readOnlyMode: boolean) {
    super(queue, { readOnlyMode });
    this.#queue = queue;
    this.setFormatter("data", maskData);
    this.setFormatter("returnValue", maskData);
  }

  override getJob(id: string): Promise<Job | undefined> {
    return findJob(this.#queue, id);
  }
}

/**
 * The template loads fonts from another site. They are removed, so that the page works offline and stays
 * private.
 */
export function renderBoard({ view, viewsDir, uiConfig }: Board): string {
  const { name, params } = view.handler({ basePath: boardPath, uiConfig });
  const template = readFileSync(join(viewsDir, name), "utf8");
  return template
    .replace(/<link[^>]*fonts\.googleapis\.com[^>]*>/g, "")
    .replace(/<%-\s*(\w+)\s*%>/g, (_all, key: string) => params[key] ?? "")
    .replace(/<%=\s*(\w+)\s*%>/g, (_all, key: string) => escapeText(params[key] ?? ""));
}

const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

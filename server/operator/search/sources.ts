import type { RoomNode } from "../../../actors/index.ts";
import type { PlayerService } from "../../features/accounts/domain/player-service.ts";
import { AppError } from "../../platform/errors.ts";
import { groupIdPattern } from "../../platform/faults/grouping.ts";
import { isRequestId } from "../../platform/origin.ts";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import { failurePathOf } from "../failures/paths.ts";
import type { FailureService } from "../failures/routes.ts";
import { jobPath } from "../jobs/paths.ts";
import type { JobService } from "../jobs/service.ts";
import { playerPathOf } from "../players/page.ts";
import { requestPathOf } from "../requests/paths.ts";
import type { RequestsDeps } from "../requests/routes.ts";
import { roomPathOf } from "../rooms/page.ts";
import { presentKinds, presentRoom, type RoomSources } from "../rooms/rooms.ts";
import { workersPath } from "../workers/page.ts";
import type { FoundBody } from "./schemas.ts";
import type { SearchSource } from "./search.ts";

export interface Searched extends RoomSources, RequestsDeps {
  players: Pick<PlayerService, "find">;
  failures: Pick<FailureService, "find">;
  jobs: Pick<JobService, "queues" | "job">;
  processes(): Promise<ProcessInfo[]>;
}

type NodeId = RoomNode["nodeId"];

/** Everything that has a page, by its id or name. */
export const createSearchSources = (searched: Searched): readonly SearchSource[] => [
  { name: "players", search: (text) => searchPlayers(searched, text) },
  { name: "requests", search: (text) => searchRequests(searched, text) },
  { name: "rooms", search: (text) => searchRooms(searched, text) },
  { name: "failures", search: (text) => searchFailures(searched, text) },
  { name: "jobs", search: (text) => searchJobs(searched, text) },
  { name: "processes", search: (text) => searchProcesses(searched, text) },
];

async function searchPlayers({ players }: Searched, text: string): Promise<FoundBody[]> {
  const found = await players.find(text);
  return found.map(({ id, name, isGuest, isClosed }) => ({
    ...{ what: "player", name },
    note: [`id ${id}`, isGuest && "guest", isClosed && "closed"].filter(Boolean).join(", "),
    path: playerPathOf(id),
  }));
}

async function searchRequests({ timelineOf }: Searched, text: string): Promise<FoundBody[]> {
  if (!isRequestId(text)) return [];
  const found = await ifFound(timelineOf(text));
  return found === null
    ? []
    : [{ what: "request", name: text, note: null, path: requestPathOf(text) }];
}

async function searchRooms(sources: RoomSources, text: string): Promise<FoundBody[]> {
  const code = text.toUpperCase();
  if (!/^[A-Z0-9]{4,12}$/.test(code)) return [];
  const { kinds } = await presentKinds(sources);
  const rooms = kinds.map(({ kind }) => ifFound(presentRoom(sources, kind, code)));
  return (await Promise.all(rooms)).flatMap((found) => {
    if (found === null) return [];
    const { kind, status } = found.room;
    return { what: kind, name: code, note: status, path: roomPathOf(kind, code) };
  });
}

async function searchFailures({ failures }: Searched, text: string): Promise<FoundBody[]> {
  if (!new RegExp(groupIdPattern).test(text)) return [];
  const found = await ifFound(failures.find(text));
  if (found === null) return [];
  const { code, place } = found.key;
  return [{ what: "failure", name: text, note: code ?? place, path: failurePathOf(text) }];
}

async function searchJobs({ jobs }: Searched, text: string): Promise<FoundBody[]> {
  const names = (await jobs.queues()).map(({ name }) => name);
  const found = await Promise.all(names.map((name) => ifFound(jobs.job(name, text))));
  return found.flatMap((job) => {
    if (job === null) return [];
    const { id, queue, state } = job;
    return { what: "job", name: id, note: `${queue}, ${state}`, path: jobPath(queue, id) };
  });
}

async function searchProcesses({ processes }: Searched, text: string): Promise<FoundBody[]> {
  const names = (pid: number, nodeId: NodeId | null) => String(pid) === text || nodeId === text;
  return (await processes())
    .filter(({ pid, nodeId }) => names(pid, nodeId))
    .map(({ role, index, pid }) => ({
      ...{ what: "process", name: `${role} ${index}`, note: `pid ${pid}` },
      path: workersPath,
    }));
}

/** Null if there is no such thing. */
async function ifFound<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return null;
    throw error;
  }
}

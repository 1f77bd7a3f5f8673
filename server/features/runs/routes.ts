import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { presentPlayQuestion } from "../questions/schemas.ts";
import * as s from "./schemas.ts";
import { advanceRun, answerRun, readPlace } from "./service.ts";
import { listToday, startChallenge } from "./challenges.ts";
import { startEndless } from "./endless.ts";
import type { RunDeps } from "./deps.ts";

const defineRoute = routesWith<RunDeps>();
const base = "/v1/games/trivia";
const common = { auth: "player", tag: "Runs" } as const;
const named = { params: s.RunParams, notFoundCode: "run:not_found" } as const;
/** The question may have to be generated first. */
const deadlineMs = 30_000;

const start = defineRoute({
  ...common,
  method: "POST",
  path: `${base}/runs`,
  summary: "Start an endless run, or start or resume the run of a challenge",
  source: "document 2, Runs; RUN-02, RUN-03, RUN-04, RUN-06",
  deadlineMs,
  body: s.StartBody,
  crossFieldChecks: s.challengeProblems,
  responses: { 200: s.StartedRun },
  errors: [
    "auth:token_invalid",
    "challenge:not_found",
    "challenge:already_completed",
    "generator:unavailable",
  ],
  handler: async ({ body, caller, deps }) => {
    const { mode, challenge_id: challengeId = null, category = null } = body;
    const { run, question, isCached } =
      mode === "endless" || challengeId === null
        ? await startEndless(deps, caller.playerId, category)
        : await startChallenge(deps, caller.playerId, { mode, challengeId });
    const shown = s.presentRun(run);
    const asked = question === null ? null : presentPlayQuestion({ ...question, isCached });
    return reply(200, { ...shown, run: shown, question: asked });
  },
});

const read = defineRoute({
  ...common,
  ...named,
  method: "GET",
  path: `${base}/runs/{id}`,
  summary: "Read one of the caller's runs, with its current question",
  source: "document 2, Runs; RUN-04",
  responses: { 200: s.RunView },
  errors: ["run:not_found"],
  handler: async ({ params, caller, deps }) => {
    const { run, question } = await readPlace(deps, caller.playerId, params.id);
    const asked = question === null ? null : presentPlayQuestion({ ...question, isCached: true });
    return reply(200, { run: s.presentRun(run), question: asked });
  },
});

const answer = defineRoute({
  ...common,
  ...named,
  method: "POST",
  path: `${base}/runs/{id}/answer`,
  summary: "Answer the current question; the server's time counts if the caller claims less",
  source: "document 2, Runs; RUN-03, RUN-05, SCO-01, SCO-04, HTTP-15",
  deadlineMs,
  idempotent: true,
  body: s.AnswerBody,
  responses: { 200: s.AnswerResult },
  errors: ["run:not_found", "run:already_answered", "player:not_found"],
  handler: async ({ params, body, caller, deps, memoizeForKey }) => {
    const given = { selectedIndex: body.selected_index, timeTakenMs: body.time_taken_ms };
    const outcome = await answerRun(deps, caller.playerId, { ...params, memoizeForKey }, given);
    const next = outcome.next === null ? null : presentPlayQuestion(outcome.next);
    return reply(200, s.presentAnswer(outcome, next));
  },
});

const advance = defineRoute({
  ...common,
  ...named,
  method: "POST",
  path: `${base}/runs/{id}/advance`,
  summary: "Advance a challenge run to its next question",
  source: "document 2, Runs; RUN-05",
  responses: { 200: s.AdvancedRun },
  errors: [
    "run:not_found",
    "challenge:not_found",
    "run:finished",
    "run:endless",
    "run:not_answered",
    "run:no_more_questions",
  ],
  handler: async ({ params, caller, deps }) => {
    const { run, question } = await advanceRun(deps, caller.playerId, params.id);
    const asked = presentPlayQuestion({ ...question, isCached: true });
    return reply(200, { run: s.presentRun(run), question: asked });
  },
});

const today = defineRoute({
  ...common,
  method: "GET",
  path: `${base}/challenges/today`,
  summary: "Read the challenges of the caller's day",
  tag: "Challenges",
  source: "document 2, Challenges; RUN-06, RUN-07",
  query: s.TodayQuery,
  responses: { 200: s.Today },
  errors: ["request:invalid_query", "generator:unavailable", "server:unavailable"],
  handler: async ({ query, caller, deps }) => {
    const both = await listToday(deps, caller.playerId, query.tz);
    return reply(200, {
      daily_shuffle: s.presentSummary(both.daily_shuffle),
      gauntlet: s.presentSummary(both.gauntlet),
    });
  },
});

export const runRoutes: Route<RunDeps>[] = [start, read, answer, advance, today];

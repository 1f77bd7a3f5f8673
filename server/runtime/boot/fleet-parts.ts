import type { Redis } from "ioredis";
import type { Config } from "../../platform/config/config.ts";
import { shutdownDelaySeconds } from "../../platform/config/shutdown.ts";
import type { Instance as Identity } from "../../platform/instance.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { Fleet } from "../fleet/fleet.ts";
import { aboutInstance, observeInstance } from "../fleet/self.ts";
import { Answers } from "./answers.ts";
import type { Children } from "./children.ts";
import { Drains } from "./drains.ts";
import type { Instance } from "./instance.ts";

export interface FleetPartsDeps {
  config: Config;
  log: Logger;
  redis: Redis;
  /** The primary. */
  identity: Identity;
  children: Children;
  instance: Instance;
}

/** What the primary has to do with the other instances. Nothing is sent before `fleet.join`. */
export interface FleetParts {
  fleet: Fleet;
  drains: Drains;
  answers: Answers;
}

export function createFleetParts(deps: FleetPartsDeps): FleetParts {
  const { config, log, redis, identity, children, instance } = deps;
  const { id } = identity;
  const about = aboutInstance(config, identity);
  const drains = new Drains({
    workers: () => children.workers(),
    log,
    delayMs: shutdownDelaySeconds(config) * 1_000,
    hasSuccessor: () => fleet.hasSuccessor(),
    leave: () => instance.leave(),
    return: () => instance.return(),
  });
  const fleet: Fleet = new Fleet({
    ...{ redis, redisUrl: config.REDIS_URL, id, log, about },
    observe: () => observeInstance(children, instance.answers().ready.word),
    answer: (question, subject) => answers.toInstance(question, subject),
  });
  const answers = new Answers({ id, host: about.host, children, instance, drains, fleet });
  return { fleet, drains, answers };
}

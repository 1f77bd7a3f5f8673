import type { Scenarios } from "../floor-scenario.ts";
import { fanOut } from "./fan-out.ts";

export const scenarios: Scenarios = {
  lobbies: fanOut({
    about: "lobbies of eight with two events a second",
    topics: 500,
    perTopic: 8,
    perSecond: 1000,
    aim: 1.3,
  }),
  topic: fanOut({
    about: "one lobby with thousands of subscribers, two events a second",
    topics: 1,
    perTopic: 4000,
    perSecond: 2,
    aim: 1.2,
  }),
  flood: fanOut({
    about: "events at the maximum rate of the readers",
    topics: 100,
    perTopic: 8,
    perSecond: null,
    aim: 1.3,
  }),
};

import Type, { type Static, type TSchema } from "typebox";

/** Version of the JSON report. A reader of another version says so; fields are only added within one. */
export const reportVersion = 1;

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Counts = Type.Record(Type.String(), Type.Number());

/** Times in milliseconds; a percentile with fewer than 10 samples beyond it is null. */
const Summary = Type.Object({
  count: Type.Number(),
  meanMs: Type.Number(),
  maxMs: Type.Number(),
  percentiles: Type.Record(Type.String(), Nullable(Type.Number())),
});

const Operation = Type.Object({
  name: Type.String(),
  count: Type.Number(),
  failed: Type.Number(),
  limited: Type.Number(),
  perSecond: Type.Number(),
  response: Summary,
  /** Null: a figure that the scenario measures has none. */
  service: Nullable(Summary),
});

const OperationSecond = Type.Object({
  /** Operations that succeeded, that failed without meeting a limit, and that ended with 429. */
  count: Type.Number(),
  failed: Type.Number(),
  limited: Type.Number(),
  /** From the intended start, of the successful ones: an HDR histogram of microseconds, V2 compressed, base64; null: none. */
  response: Nullable(Type.String()),
  /**
   * The same from the send. Only of operations that a generator in good order sent in time and received: a generator
   * that stands still never makes it longer. A figure of a scenario has none.
   */
  service: Nullable(Type.String()),
});

const Second = Type.Object({
  /** Seconds since the start of the load. */
  at: Type.Number(),
  /** Arrivals that were sent, those of them that were late, and those dropped at the limit of concurrent ones. */
  sent: Type.Number(),
  late: Type.Number(),
  dropped: Type.Number(),
  /** Histogram of the times by which arrivals were sent late; null: none was sent. */
  lateness: Nullable(Type.String()),
  operations: Type.Record(Type.String(), OperationSecond),
});

const Series = Type.Object({
  name: Type.String(),
  unit: Type.String(),
  points: Type.Array(Type.Tuple([Type.Number(), Type.Number()])),
});

const Budget = Type.Object({
  text: Type.String(),
  value: Nullable(Type.Number()),
  outcome: Type.Union([Type.Literal("met"), Type.Literal("broken"), Type.Literal("unknown")]),
  /** Why the figure is unknown. */
  reason: Type.String(),
});

const ErrorGroup = Type.Object({
  operation: Type.String(),
  /** A code of the service ("lobby:not_found"), of the client ("network:timeout") or of the bench ("bench:deadline"). */
  code: Type.String(),
  /** HTTP status; 0 without one. */
  status: Type.Number(),
  count: Type.Number(),
  samples: Type.Array(
    Type.Object({
      at: Type.Number(),
      bot: Type.String(),
      /** `X-Request-Id` that the bot sent; null: no request failed. */
      requestId: Nullable(Type.String()),
      request: Nullable(Type.String()),
      message: Type.String(),
    }),
  ),
});

const Violation = Type.Object({
  /** "lost answer", "gap", "wrong proof" */
  kind: Type.String(),
  text: Type.String(),
  bot: Type.String(),
  requestId: Nullable(Type.String()),
});

/** A fault that the run caused itself. Times in seconds since the start of the load. */
const Fault = Type.Object({
  name: Type.String(),
  at: Type.Number(),
  /** When the worker or store was back; null: not before the end of the load. */
  until: Nullable(Type.Number()),
  /** Milliseconds until each lobby that it hit answered again, or each cut stream was open again. */
  recoveriesMs: Type.Array(Type.Number()),
});

/** What an own instance held before the load and after it, of one kind. */
const Leftover = Type.Object({
  name: Type.String(),
  before: Type.Number(),
  after: Type.Number(),
  /** Seconds after the load until it was no more than before; null: not in two minutes. */
  backAfter: Nullable(Type.Number()),
});

const Generator = Type.Object({
  /** When its main loop stood still, in milliseconds since the start of the load. */
  stalls: Type.Array(Type.Object({ atMs: Type.Number(), ms: Type.Number() })),
  numStalls: Type.Number(),
  stalledMs: Type.Number(),
  /** Most memory. */
  peakMib: Type.Number(),
  /** Processor time during the load. */
  cpuSeconds: Type.Number(),
});

/** What a run knows besides its measurements. */
const Context = Type.Object({
  scenario: Type.String(),
  about: Type.String(),
  /** Why it is not completed stands in `problems`. */
  status: Type.Union([
    Type.Literal("completed"),
    Type.Literal("interrupted"),
    Type.Literal("failed"),
  ]),
  run: Type.Object({
    command: Type.String(),
    commit: Nullable(Type.String()),
    isDirty: Type.Boolean(),
    seed: Type.Number(),
    load: Type.String(),
    isClosed: Type.Boolean(),
    startedAt: Type.String(),
    /** Of the load, without setup. */
    seconds: Type.Number(),
    /** Of everything besides the load: start, setup, the end of what was under way, teardown; absent in earlier reports. */
    besidesSeconds: Type.Optional(Type.Number()),
    processes: Type.Number(),
    maxInFlight: Type.Number(),
  }),
  target: Type.Object({
    url: Type.String(),
    isOwn: Type.Boolean(),
    settings: Type.Record(Type.String(), Type.String()),
  }),
  machine: Type.Object({
    cpu: Type.String(),
    cores: Type.Number(),
    memoryMib: Type.Number(),
    node: Type.String(),
    system: Type.String(),
    loadBefore: Type.Number(),
    loadAfter: Type.Number(),
    neighbours: Type.Array(Type.String()),
  }),
  /** Operations of other servers under the same load, as further controls. */
  peers: Type.Optional(Type.Array(Operation)),
  series: Type.Array(Series),
  faults: Type.Array(Fault),
  leaves: Counts,
  /** Counted where a budget is about it. */
  leftovers: Type.Optional(Type.Array(Leftover)),
});

export const ReportSchema = Type.Object({
  ...Context.properties,
  version: Type.Literal(reportVersion),
  exitCode: Type.Number(),
  /** One sentence. */
  verdict: Type.String(),
  problems: Type.Array(Type.String()),
  budgets: Type.Array(Budget),
  arrivals: Type.Object({
    sent: Type.Number(),
    late: Type.Number(),
    dropped: Type.Number(),
    unfinished: Type.Number(),
    lateness: Summary,
  }),
  /** Most bots at once; absent in earlier reports. */
  bots: Type.Optional(Type.Number()),
  operations: Type.Array(Operation),
  /** The floor: the simplest request to a raw server on this machine, under a small constant load. */
  floor: Nullable(Operation),
  seconds: Type.Array(Second),
  errors: Type.Array(ErrorGroup),
  violations: Type.Array(Violation),
  numViolations: Type.Number(),
  requests: Type.Object({
    sent: Type.Number(),
    /** To the port of the worker that owns a lobby; absent in earlier reports. */
    direct: Type.Optional(Type.Number()),
    /** Attempts that the client repeats, by "status code" or system error. */
    repeated: Counts,
    connections: Type.Number(),
    /** Connections that the other side ended, idle ones too; the bots opened new ones. */
    lostConnections: Type.Number(),
    /** Answers with 429, by request and the setting that sets the limit. */
    limited: Counts,
    /** Guests that came into being; no endpoint removes them. */
    guests: Type.Number(),
  }),
  generators: Type.Array(Generator),
  /** Why the generators limited the run; empty: they did not. */
  generatorLimits: Type.Array(Type.String()),
});

export type Context = Static<typeof Context>;
export type Report = Static<typeof ReportSchema>;
export type Operation = Static<typeof Operation>;
export type Series = Static<typeof Series>;
export type Budget = Static<typeof Budget>;
export type Fault = Static<typeof Fault>;
export type Leftover = Static<typeof Leftover>;

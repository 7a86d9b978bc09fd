/** What is said of a model call that is tried again, and of another model that takes over. */

const FAILURES: Readonly<Record<string, string>> = {
  rate_limit: "rate limited",
  overloaded: "overloaded",
  server: "server error",
  timeout: "no answer in time",
  connection: "connection failed",
  stream_stalled: "reply stalled",
  stream_malformed: "broken reply",
  auth: "credential refused",
  invalid: "request refused",
  model_not_found: "not found",
};

interface Retry {
  readonly attempt: number;
  readonly maxRetries: number;
  readonly delayMs: number;
  readonly errorKind: string;
  readonly status?: number;
  readonly message?: string;
}

/** `model: overloaded (529), retry 2/10 in 1.0s`, `model: request refused (400), sent again without what was refused` */
export function retryWords({ attempt, maxRetries, delayMs, errorKind, status, message }: Retry): string {
  const more = message ?? status;
  const what = `${FAILURES[errorKind] ?? errorKind}${more === undefined ? "" : ` (${more})`}`;
  if (delayMs === 0)
    return `model: ${what}, sent again ${errorKind === "auth" ? "with a new one" : "without what was refused"}`;
  return `model: ${what}, retry ${attempt}/${maxRetries} in ${(delayMs / 1000).toFixed(1)}s`;
}

/** `model: nothing came for 41.0s, then the reply continued (2 such silences, 73.5s in all)` */
export function stallWords(stall: {
  readonly durationMs: number;
  readonly count: number;
  readonly totalMs: number;
}): string {
  const { durationMs, count, totalMs } = stall;
  const all = count === 1 ? "" : ` (${count} such silences, ${(totalMs / 1000).toFixed(1)}s in all)`;
  return `model: nothing came for ${(durationMs / 1000).toFixed(1)}s, then the reply continued${all}`;
}

interface SlotWait {
  readonly class: string;
  readonly position: number;
  readonly waitedMs: number;
  readonly lane: {
    readonly lane: string;
    readonly slots: number;
    readonly used: number;
    readonly closedForMs?: number;
  };
}

/** `model: waits for a slot at anthropic sonnet, place 3 (foreground); 8 of 8 in use` */
export function slotWords({ class: name, position, lane }: SlotWait): string {
  const why =
    lane.closedForMs === undefined
      ? `${lane.used} of ${lane.slots} in use`
      : `its server refuses more for ${(lane.closedForMs / 1000).toFixed(1)}s`;
  return `model: waits for a slot at ${laneName(lane.lane)}, place ${position} (${name}); ${why}`;
}

/** The name of a lane without its device folder and the mark of its account. */
export function laneName(lane: string): string {
  return lane.replace(/^\/dev\/llm\//, "").replace(/ #\w+$/, "");
}

interface Place {
  readonly device: string;
  readonly model: string;
}

/** `model: opus overloaded; haiku answers for the rest of the run`, `model: haiku answers from now on, in place of opus` */
export function switchWords(change: {
  readonly from: Place;
  readonly to: Place;
  readonly cause: string;
}): string {
  if (change.cause === "user")
    return `model: ${modelWords(change.to)} answers from now on, in place of ${modelWords(change.from)}`;
  const why = FAILURES[change.cause] ?? change.cause;
  return `model: ${modelWords(change.from)} ${why}; ${modelWords(change.to)} answers for the rest of the run`;
}

/** The name of a model; without one, that of its driver. */
export function modelWords({ device, model }: Place): string {
  return model || device.split("/").slice(3).join("/");
}

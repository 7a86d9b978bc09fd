/** Checks a supervisor's specification and adds the defaults. Errors are INVALID, with the path of the field. */
import type { NativeOptions } from "../abi/native.ts";
import {
  type Backoff,
  type ChildSpec,
  DEFAULT_BACKOFF,
  DEFAULT_INTENSITY,
  DEFAULT_STRATEGY,
  type Intensity,
  type Restart,
  type Strategy,
  type SupervisorSpec,
} from "../abi/supervise.ts";
import type { SpawnOpts } from "../abi/sys.ts";
import { LIMITS } from "../kernel/limits.ts";
import { Field } from "./field.ts";

export interface CheckedSpec {
  readonly name: string;
  readonly strategy: Strategy;
  readonly intensity: Intensity;
  readonly backoff: Backoff;
  readonly exitWhenDone: boolean;
  readonly children: readonly CheckedChild[];
}

export type Shutdown = NonNullable<ChildSpec["shutdown"]>;

export interface CheckedChild {
  readonly id: string;
  readonly start: CheckedStart;
  readonly restart: Restart;
  readonly shutdown: Shutdown;
}

export type CheckedStart =
  /** `agent` undefined: general mode. */
  | {
      readonly kind: "agent";
      readonly agent: string | undefined;
      readonly intent: string;
      readonly opts: SpawnOpts;
    }
  | {
      readonly kind: "native";
      readonly command: readonly string[];
      readonly options: NativeOptions;
      readonly opts: SpawnOpts;
    }
  | { readonly kind: "supervisor"; readonly spec: CheckedSpec }
  /** A child of an earlier daemon that cannot be started as it was. */
  | { readonly kind: "withheld"; readonly reason: string };

const DEFAULT_SHUTDOWN_MS = 5_000;

const NAME = /^[a-z][a-z0-9_-]{0,63}$/;
const STRATEGIES: readonly Strategy[] = ["one_for_one", "one_for_all", "rest_for_one"];
const RESTARTS: readonly Restart[] = ["permanent", "transient", "temporary"];
/** The longest delay of a platform timer, 24.8 days. */
const MAX_MS = 2 ** 31 - 1;
const MAX_RESTARTS = 1_000_000;
/** The most words of a command. */
const MAX_WORDS = 10_000;
/** The deepest nesting of supervisors. */
const MAX_DEPTH = 16;
const SPEC_KEYS = ["name", "strategy", "intensity", "backoff", "exitWhenDone", "children"];

export function checkSpec(spec: SupervisorSpec): CheckedSpec {
  return supervisorAt(new Field("", spec), 1);
}

function supervisorAt(field: Field, depth: number): CheckedSpec {
  if (depth > MAX_DEPTH) field.fail(`supervisors more than ${MAX_DEPTH} deep`);
  field.object(SPEC_KEYS);
  const children = field
    .at("children")
    .list(LIMITS.supervised)
    .map((child) => childAt(child, depth));
  checkUnique(field.at("children"), children);
  return {
    name: nameAt(field.at("name")),
    strategy: field.at("strategy").oneOf(STRATEGIES, DEFAULT_STRATEGY),
    intensity: intensityAt(field.at("intensity")),
    backoff: backoffAt(field.at("backoff")),
    exitWhenDone: field.at("exitWhenDone").flag(false),
    children,
  };
}

function nameAt(field: Field): string {
  const name = field.text();
  return NAME.test(name) ? name : field.fail(`must match ${NAME.source}`);
}

function intensityAt(field: Field): Intensity {
  if (!field.isGiven) return DEFAULT_INTENSITY;
  field.object(["maxRestarts", "windowMs"]);
  return {
    maxRestarts: field.at("maxRestarts").int(0, MAX_RESTARTS),
    windowMs: field.at("windowMs").int(1, MAX_MS),
  };
}

function backoffAt(field: Field): Backoff {
  if (!field.isGiven) return DEFAULT_BACKOFF;
  field.object(["initialMs", "factor", "maxMs", "jitter"]);
  return {
    initialMs: field.at("initialMs").int(0, MAX_MS),
    factor: field.at("factor").number(1, 1_000),
    // with jitter it must still fit a platform timer
    maxMs: field.at("maxMs").int(0, Math.floor(MAX_MS / 2)),
    jitter: field.at("jitter").number(0, 1),
  };
}

function checkUnique(list: Field, children: readonly CheckedChild[]): void {
  const seen = new Set<string>();
  for (const [at, { id }] of children.entries()) {
    if (seen.has(id)) new Field(`${list.path}[${at}].id`, id).fail("used twice");
    seen.add(id);
  }
}

function childAt(field: Field, depth: number): CheckedChild {
  field.object(["id", "start", "restart", "shutdown"]);
  const start = startAt(field.at("start"), depth);
  return {
    id: field.at("id").text(),
    start,
    restart: field.at("restart").oneOf(RESTARTS, "permanent"),
    shutdown: shutdownAt(
      field.at("shutdown"),
      start.kind === "supervisor" ? "infinity" : DEFAULT_SHUTDOWN_MS,
    ),
  };
}

function shutdownAt(field: Field, otherwise: Shutdown): Shutdown {
  if (!field.isGiven) return otherwise;
  if (field.value === "kill" || field.value === "infinity") return field.value;
  if (typeof field.value === "string") field.fail("must be milliseconds, kill or infinity");
  return field.int(0, MAX_MS);
}

function startAt(field: Field, depth: number): CheckedStart {
  field.object(["agent", "intent", "opts", "command", "options", "supervisor"]);
  if (field.has("supervisor")) {
    field.object(["supervisor"]);
    return { kind: "supervisor", spec: supervisorAt(field.at("supervisor"), depth + 1) };
  }
  if (field.has("command")) {
    field.object(["command", "options", "opts"]);
    const command = field.at("command").list(MAX_WORDS).map(wordAt);
    if (command.length === 0) field.at("command").fail("is empty");
    const options = (field.at("options").value ?? {}) as NativeOptions;
    return { kind: "native", command, options, opts: optsAt(field.at("opts")) };
  }
  field.object(["agent", "intent", "opts"]);
  const agent = field.has("agent") ? field.at("agent").text() : undefined;
  return { kind: "agent", agent, intent: field.at("intent").text(), opts: optsAt(field.at("opts")) };
}

function wordAt(field: Field): string {
  return typeof field.value === "string" ? field.value : field.fail("must be a string");
}

/** Each start must be the same: refuses what can be handed over only once, and what the supervisor itself decides. */
function optsAt(field: Field): SpawnOpts {
  if (!field.isGiven) return {};
  if (typeof field.value !== "object" || field.value === null) field.fail("must be an object");
  for (const key of ["parentPid", "onParentExit", "command", "options"])
    if (field.has(key)) field.at(key).fail("is not for a supervised child");
  const [stdin, stdout] = [field.at("stdin"), field.at("stdout")];
  if (typeof stdin.value === "number") stdin.fail("an fd can be handed over only once; give it as bytes");
  if (stdout.isGiven) stdout.fail("an fd can be handed over only once");
  return field.value as SpawnOpts;
}

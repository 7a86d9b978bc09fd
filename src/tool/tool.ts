/**
 * The definition of a tool. `defineTool` checks the definition at compile time and closes it over its argument type;
 * the defaults fail closed: not read-only, destructive, serial, outcome unknown after a crash.
 */

import type * as z from "zod";
import type { CallFacts } from "../abi/call-note.ts";
import type { KeptValues } from "../abi/device.ts";
import type { Effect, EffectClass } from "../abi/effects.ts";
import type { ErrorCode } from "../abi/errno.ts";
import type { CallId, Pid } from "../abi/ids.ts";
import type { PermissionMode } from "../abi/process.ts";
import type { Said } from "../abi/sentence.ts";
import type { SkillsInReach } from "../abi/skill.ts";
import type { Syscalls } from "../abi/sys.ts";
import type { MediaPart, Progress } from "../abi/tool.ts";
import { parseArguments } from "./arguments.ts";
import { terseSchema } from "./schema.ts";
import type { FileTracker } from "./tracker.ts";

/** What is known about the caller before anything acts. */
export interface Scope {
  /** The working directory: an absolute host path. */
  readonly cwd: string;
  /** The environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Directories the process works in, cwd first. */
  readonly roots: readonly string[];
  readonly tracker: FileTracker;
  readonly mode: PermissionMode;
  /** A client that can answer questions is attached. */
  readonly interactive: boolean;
  readonly isSession: boolean;
  /** The name of the model that made the call; "": unknown. */
  readonly modelName: string;
  /** The device path of that model; "": unknown. */
  readonly modelDevice: string;
  readonly supportsImages: boolean;
  /** A call of its model that names no agent means a fork of the process, if the settings allow that; a fork is refused one. */
  readonly forksUnnamed?: boolean;
  /** Only for a tool that wants them. */
  readonly skills?: SkillsInReach;
  /** What the settings say of agents in the background. Absent: nothing. */
  readonly background?: BackgroundRule;
  /** Values of the process that outlive a restart. Absent: nothing is kept. */
  readonly kept?: KeptValues;
}

export interface BackgroundRule {
  /** Agents are waited for, always. */
  readonly isOff?: boolean;
  /** Calls of a model may fork its process, and all agents that it starts work in the background. */
  readonly forks?: boolean;
  /** How long a call waits for an agent before that goes on in the background, ms; 0: as long as it takes. */
  readonly afterMs?: number;
}

/** The means to read before acting: the gate allows what the effects cover. */
export interface LookContext extends Scope {
  readonly sys: Syscalls;
  readonly signal: AbortSignal;
}

export interface RunContext extends LookContext {
  readonly pid: Pid;
  readonly callId: CallId;
  /** Wall clock, ms: for display. */
  now(): number;
  /** Reports progress, as often as the tool likes: at most one frame a second is sent, the newest. */
  progress(told: Progress): void;
}

/** The conditions by which a tool may be disabled. */
export interface ToolEnv {
  /** `linux`, `darwin` … */
  readonly platform: string;
  /** The environment of the calling process. */
  readonly env: Readonly<Record<string, string>>;
  readonly interactive: boolean;
  readonly isSession: boolean;
  /** A call of an agent started it. */
  readonly isChild: boolean;
  readonly hasTeam: boolean;
  /** The settings allow teams. */
  readonly mayTeam: boolean;
  /** The choice in the settings; absent: none. */
  readonly tasks?: "todo";
  /** The settings let models take messages out of their view. */
  readonly snips?: boolean;
}

/** The outcome of a run; the device turns it into the result. */
export interface Outcome {
  /** The text for the model; cut to the limit of the tool. */
  text: string;
  /** Last lines that are never cut, such as an exit code. */
  status?: string;
  meta?: Record<string, unknown>;
  /** For followers of the call. */
  facts?: CallFacts;
  /** Images and documents for the model, after the text. */
  media?: readonly MediaPart[];
  /** Set: the call failed, and `text` holds what it produced before. */
  error?: { code: ErrorCode; message: string; hint?: string };
  /**
   * The full output is already stored, at `path` ("": it could not be); `isPart`: the middle of `text` was left out.
   */
  kept?: { path: string; totalChars: number; isPart: boolean };
}

/** The text of an approval dialog; made from the arguments, never the arguments themselves. */
export interface Dialog {
  /** One line: `edit file: src/a.ts`. */
  operation: string;
  params: Record<string, unknown>;
  diff?: string;
  warnings?: Said[];
}

/** Over the budget: the first 8,000 characters are kept, or both ends; `none` for tools that page by themselves. */
type Overflow = "head" | "ends" | "none";

interface ToolDef<S extends z.ZodObject> {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** 3 to 10 words by which the tool is found. */
  readonly hint: string;
  /** The description file; the model reads the part before its first `---` line. */
  readonly text: string;
  readonly args: S;
  /** The schema of the `meta` of a successful call. */
  readonly meta?: z.ZodType;
  /** Whether it is sent with each request or found by search; default `deferred`. */
  readonly listed?: "core" | "deferred";
  /** Old results may be dropped from a long context; only for tools that can simply be called again. */
  readonly compactable?: boolean;
  readonly maxResultChars?: number;
  readonly overflow?: Overflow;
  /** `block`: an interrupt lets this call finish. */
  readonly interrupt?: "cancel" | "block";
  /** For a call that is not read-only. */
  readonly effectClass?: EffectClass;
  readonly parallel?: boolean | ((args: z.output<S>) => boolean);
  /** Changes nothing outside Crux's own lists. */
  readonly readOnly?: boolean | ((args: z.output<S>, scope: Scope) => boolean);
  /** It is given the skills in reach of its caller. */
  readonly wantsSkills?: true;
  /** true, or why it is disabled and how to enable it. Called again for every model call. */
  enabled?(env: ToolEnv): true | string;
  /** False: it is not listed, and a call is answered all the same; default: it is listed. */
  offered?(env: ToolEnv): boolean;
  destructive?(args: z.output<S>, scope: Scope): boolean;
  /** Pure. An upper bound of what `run` and `prepare` do. */
  effects(args: z.output<S>, scope: Scope): readonly Effect[];
  /**
   * Read-only: throws for a call that must fail; `run` checks again. If it returns a dialog, that is shown instead of
   * `view`.
   */
  prepare?(args: z.output<S>, look: LookContext): Promise<Dialog | undefined>;
  view?(args: z.output<S>, scope: Scope): Dialog;
  /** At most 80 characters: `Editing src/a.ts`. */
  activity?(args: z.output<S>): string;
  /** The files it is about, as given: for matchers. */
  paths?(args: z.output<S>): readonly string[];
  /** The most telling argument, for followers of the call; default: the first of its paths. */
  about?(args: z.output<S>): string;
  /** Whether a user interface may collapse the call. */
  collapse?(args: z.output<S>): boolean;
  /** More fields for user interfaces and hooks, never for the context. */
  observed?(args: z.output<S>, scope: Scope): Readonly<Record<string, unknown>>;
  run(args: z.output<S>, context: RunContext): Promise<Outcome>;
}

/** One call: arguments parsed, nothing done yet. */
export interface ParsedCall {
  readonly effects: readonly Effect[];
  readonly effectClass: EffectClass;
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly parallel: boolean;
  readonly activity: string;
  readonly paths: readonly string[];
  readonly about: string;
  readonly collapse: boolean;
  readonly observed: Readonly<Record<string, unknown>>;
  readonly view: Dialog;
  prepare?(look: LookContext): Promise<Dialog | undefined>;
  run(context: RunContext): Promise<Outcome>;
}

export interface Tool {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly hint: string;
  /** Always the same bytes. */
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly args: z.ZodObject;
  readonly meta: z.ZodType | undefined;
  readonly listed: "core" | "deferred";
  readonly compactable: boolean;
  /** Read-only whatever its arguments are. */
  readonly readOnly: boolean;
  /** May run beside other calls with any arguments. */
  readonly parallel: boolean;
  readonly maxResultChars: number;
  readonly overflow: Overflow;
  readonly interrupt: "cancel" | "block";
  readonly wantsSkills: boolean;
  /** true, or why it is disabled and how to enable it. */
  enabled(env: ToolEnv): true | string;
  /** Whether it is listed. */
  offered(env: ToolEnv): boolean;
  /** Throws INVALID for arguments that do not make a valid call. */
  bind(raw: unknown, scope: Scope): ParsedCall;
}

const NAME = /^[a-z][a-z0-9_]{0,47}$/;
const DEFAULT_MAX_RESULT_CHARS = 100_000;

export function defineTool<S extends z.ZodObject>(def: ToolDef<S>): Tool {
  if (!NAME.test(def.name)) throw new Error(`not a tool name: ${def.name}`);
  let schema: Tool["inputSchema"] | undefined;
  return {
    name: def.name,
    aliases: def.aliases ?? [],
    hint: def.hint,
    description: modelText(def.text),
    // made at the first request: a daemon that starts does not need it
    get inputSchema() {
      schema ??= terseSchema(def.args);
      return schema;
    },
    args: def.args,
    meta: def.meta,
    listed: def.listed ?? "deferred",
    compactable: def.compactable ?? false,
    readOnly: def.readOnly === true,
    parallel: def.parallel === true,
    maxResultChars: def.maxResultChars ?? DEFAULT_MAX_RESULT_CHARS,
    overflow: def.overflow ?? "head",
    interrupt: def.interrupt ?? "cancel",
    wantsSkills: def.wantsSkills === true,
    enabled: (env) => def.enabled?.(env) ?? true,
    offered: (env) => def.offered?.(env) ?? true,
    bind: (raw, scope) => bind(def, parseArguments(def.name, def.args, raw), scope),
  };
}

function bind<S extends z.ZodObject>(def: ToolDef<S>, args: z.output<S>, scope: Scope): ParsedCall {
  const readOnly = typeof def.readOnly === "function" ? def.readOnly(args, scope) : (def.readOnly ?? false);
  const activity = (def.activity?.(args) ?? def.name).replaceAll(/\s+/g, " ").slice(0, 80);
  return {
    effects: def.effects(args, scope),
    effectClass: readOnly ? "none" : (def.effectClass ?? "once"),
    readOnly,
    destructive: def.destructive?.(args, scope) ?? !readOnly,
    parallel: typeof def.parallel === "function" ? def.parallel(args) : (def.parallel ?? false),
    activity,
    paths: def.paths?.(args) ?? [],
    about: def.about?.(args) ?? def.paths?.(args)[0] ?? "",
    collapse: def.collapse?.(args) ?? false,
    observed: def.observed?.(args, scope) ?? {},
    view: def.view?.(args, scope) ?? { operation: activity, params: { ...args } },
    ...(def.prepare && {
      prepare: (look: LookContext) => def.prepare?.(args, look) ?? Promise.resolve(undefined),
    }),
    run: (context) => def.run(args, context),
  };
}

/** The part of a description file that the model reads; the rest is documentation. */
function modelText(file: string): string {
  return (file.split(/^---$/m)[0] ?? "").trim();
}

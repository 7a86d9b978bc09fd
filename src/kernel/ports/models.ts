/** Which model answers: `llm/` implements it over settings and the process's environment. */
import type { WindowFacts } from "../../abi/context.ts";
import type { GrantBy } from "../../abi/grants.ts";
import type { Effort, Thinking } from "../../abi/llm.ts";
import type { ModelPlace } from "../../abi/loop.ts";

export interface ModelChoice {
  /** `/dev/llm/<driver>` */
  readonly device: string;
  /** "" is the driver's default. */
  readonly model: string;
  /** A line that the user must read first; set when the built-in interpreter answers because no model is configured. */
  readonly notice?: string;
  /** Absent: the model is not asked to think. */
  readonly thinking?: Thinking;
  /** Absent: the server's default. */
  readonly effort?: Effort;
  /** Those that may answer in its place, in order. Absent: none. */
  readonly fallbacks?: readonly ModelPlace[];
  /** A line for the log of the process: another model answers than the first one requested. */
  readonly remark?: string;
}

interface ModelRequest {
  /** The model that the caller asks for; "": the agent file decides. */
  readonly model: string;
  /** The model in the agent file; "" if it names none. */
  readonly provider: string;
  readonly preferred: string;
  /** What the caller, the agent file or the parent says of it; a number is the most tokens for thinking. */
  readonly effort?: Effort | number;
  /** The fallback models in the agent file, in order. */
  readonly fallback?: readonly string[];
  /** The fallback models that the caller asks for; absent: the agent file, then the settings decide. */
  readonly fallbackModels?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The folder whose settings may name a model; absent: only the user's do. */
  readonly cwd?: string;
}

/** Where a process works. */
interface Workplace {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface ModelResolver {
  /** Errors: NOT_FOUND unknown driver (near names), UNAVAILABLE with the ways to configure one that has the model. */
  resolve(request: ModelRequest, signal: AbortSignal): Promise<ModelChoice>;
  /** Does the model of this device accept images and documents? `env`: of the process. Absent: no model does. Pure. */
  supportsImages?(device: string, model: string, env: Readonly<Record<string, string>>): boolean;
  /** What to say to a user who asks for the model, which no table has; undefined, or absent: it is known. Pure. */
  doubt?(device: string, model: string, at: Workplace): string | undefined;
  /** False: what answers at this device is not a model, it only reads a few intents. Absent: each is one. Pure. */
  isModel?(device: string): boolean;
  /** The window of a model, and whether the user lets it be kept. undefined, or absent: not known. Pure. */
  window?(device: string, model: string, at: Workplace): WindowFacts | undefined;
  /** Whether the model may decide calls in auto mode, and its largest input. Absent: unknown. Pure. */
  classifierCard?(
    device: string,
    model: string,
    env: Readonly<Record<string, string>>,
  ): { readonly autoMode: boolean; readonly maxInputTokens: number };
}

/** What the user asks for a process that is there already. */
export interface ModelWish {
  /** As `--model` has it; absent: it stays as it is. */
  readonly model?: string | undefined;
  readonly fallbackModels?: readonly string[] | undefined;
  /** Absent: it stays as it is. */
  readonly effort?: Effort | undefined;
  /** The environment of the client, for a resting session. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly by: GrantBy;
}

export interface ModelAnswering extends ModelPlace {
  /** Absent: none, or the model does not take any. */
  readonly effort?: Effort;
  /** When it takes over: with the next run of a session, or with the next step. */
  readonly from: "run" | "step";
  /** A line to show with it: no table has the model. Absent: it is known. */
  readonly note?: string;
}

/** A choice of model, for screens. */
interface ModelAnswer {
  readonly driver: string;
  /** Its id; "": the default of the driver's server. */
  readonly model: string;
  /** Where the choice comes from: a flag, a variable, a setting, a default. */
  readonly why: string;
  readonly note?: string;
}

export interface DriverView {
  readonly name: string;
  readonly isReady: boolean;
  /** How to make it ready. */
  readonly remedy: string;
}

export interface ModelView {
  readonly driver: string;
  readonly id: string;
  readonly short: string;
  readonly context: number;
  /** US dollars per million tokens; null: not known. */
  readonly price: { readonly input: number; readonly output: number } | null;
  readonly maxOutput: number;
  readonly thinking: "none" | "budget" | "adaptive";
  /** The levels of effort it takes. */
  readonly effort: readonly Effort[];
  readonly images: boolean;
  readonly cache: "explicit" | "automatic" | "none";
  /** The year and month in which what is published of it was read; absent: nothing was. */
  readonly seen?: string;
  readonly isReady: boolean;
}

/** What screens show about models. */
export interface ModelDesk {
  /** The same errors as `resolve`. */
  explain(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer>;
  survey(
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ readonly drivers: readonly DriverView[]; readonly models: readonly ModelView[] }>;
}

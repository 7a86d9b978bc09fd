/** Which model answers: `llm/` implements it over settings and the process's environment. */
export interface ModelChoice {
  /** `/dev/llm/<driver>` */
  readonly device: string;
  /** "" is the driver's default. */
  readonly model: string;
  /** A line the person must read first; set when the built-in interpreter answers because nothing is set up. */
  readonly notice?: string;
  /** A line of its log: another model answers than the first that was asked for. */
  readonly remark?: string;
}

interface ModelRequest {
  /** The model that the caller asks for; "": the agent file decides. */
  readonly model: string;
  /** The model in the agent file; "" if it names none. */
  readonly provider: string;
  readonly preferred: string;
  readonly fallback?: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ModelResolver {
  /** Errors: NOT_FOUND unknown driver (near names), UNAVAILABLE with the ways to configure one that has the model. */
  resolve(request: ModelRequest, signal: AbortSignal): Promise<ModelChoice>;
  /** Is the model of this device shown pictures and documents? `env`: of the process. Absent: none is. Pure. */
  supportsImages?(device: string, model: string, env: Readonly<Record<string, string>>): boolean;
  /** Whether the model may decide calls in auto mode, and the most it can be asked at once. Absent: unknown. Pure. */
  classifierCard?(
    device: string,
    model: string,
    env: Readonly<Record<string, string>>,
  ): { readonly autoMode: boolean; readonly maxInputTokens: number };
}

/** A choice, for people. */
interface ModelAnswer {
  readonly driver: string;
  /** Its id; "": what the driver's server takes by default. */
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
  readonly isReady: boolean;
}

/** What screens show about models. */
export interface ModelDesk {
  /** Errors as of `resolve`. */
  explain(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer>;
  survey(
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ readonly drivers: readonly DriverView[]; readonly models: readonly ModelView[] }>;
}

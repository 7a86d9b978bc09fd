/** Which model answers: `llm/` implements it over settings and the process's environment. */
export interface ModelChoice {
  /** `/dev/llm/<driver>` */
  readonly device: string;
  /** "" is the driver's default. */
  readonly model: string;
  /** A line the person must read first; set when a script answers because nothing is configured. */
  readonly notice?: string;
}

export interface ModelResolver {
  /** Errors: NOT_FOUND unknown driver (near names), UNAVAILABLE with the ways to configure one. */
  resolve(
    request: { model: string; provider: string; preferred: string; env: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<ModelChoice>;
  /** Is the model of this device shown pictures and documents? `env`: of the process. Absent: none is. Pure. */
  supportsImages?(device: string, model: string, env: Readonly<Record<string, string>>): boolean;
  /** May it judge calls in a person's place, and how much may it be asked at once? Absent: nothing is known. Pure. */
  classifierCard?(
    device: string,
    model: string,
    env: Readonly<Record<string, string>>,
  ): { readonly autoMode: boolean; readonly maxInputTokens: number };
}

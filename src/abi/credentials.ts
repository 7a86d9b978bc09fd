/** The variables that name the key and the server of each driver that takes a key. */
export const CREDENTIAL_DRIVERS = ["anthropic", "openai", "gemini", "xai", "vllm"] as const;
export type CredentialDriver = (typeof CREDENTIAL_DRIVERS)[number];

interface CredentialVariables {
  readonly key: string;
  readonly baseUrl: string;
  /** Another credential of the same driver. */
  readonly other?: string;
}

export const CREDENTIAL_VARIABLES: Readonly<Record<CredentialDriver, CredentialVariables>> = {
  anthropic: { key: "ANTHROPIC_API_KEY", baseUrl: "ANTHROPIC_BASE_URL", other: "ANTHROPIC_AUTH_TOKEN" },
  openai: { key: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL" },
  gemini: { key: "GEMINI_API_KEY", baseUrl: "GEMINI_BASE_URL", other: "GOOGLE_API_KEY" },
  xai: { key: "XAI_API_KEY", baseUrl: "XAI_BASE_URL" },
  vllm: { key: "VLLM_API_KEY", baseUrl: "VLLM_BASE_URL" },
};

/** What the user has stored for one driver. */
export interface Credential {
  readonly key: string;
  /** Absent: the vendor's own server. */
  readonly baseUrl?: string;
}

/** Whether an environment says itself how a driver is reached. */
export function namesDriver(
  env: Readonly<Record<string, string | undefined>>,
  driver: CredentialDriver,
): boolean {
  return Object.values(CREDENTIAL_VARIABLES[driver]).some((name) => (env[name] ?? "") !== "");
}

export function credentialEnv(
  driver: CredentialDriver,
  { key, baseUrl }: Credential,
): Record<string, string> {
  const names = CREDENTIAL_VARIABLES[driver];
  return { [names.key]: key, ...(baseUrl === undefined ? {} : { [names.baseUrl]: baseUrl }) };
}

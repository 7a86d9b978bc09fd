/** The environment variables that an instance depends on. */
export const BEDROCK_ENV = [
  "AWS_BEARER_TOKEN_BEDROCK",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_PROFILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_CONFIG_FILE",
  "AWS_REGION",
  "AWS_DEFAULT_REGION",
  "ANTHROPIC_BEDROCK_BASE_URL",
  "CRUX_DISABLE_EXPERIMENTAL_BETAS",
  "HOME",
] as const;

type Env = Readonly<Record<string, string>>;

/** Whether the environment names credentials that the driver may use. */
export function hasAwsCredentials(env: Env): boolean {
  return Boolean(env.AWS_BEARER_TOKEN_BEDROCK || env.AWS_ACCESS_KEY_ID || env.AWS_PROFILE);
}
